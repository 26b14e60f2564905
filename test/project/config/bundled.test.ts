import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { makeFolder, PROGRAM, put } from '../../repository.ts'

it.each([
  ['ralph.config.json', '{ "tasks": "backlog" /* here */ }', '{ "task": "backlog" }'],
  ['ralph.config.yaml', 'tasks: backlog\n', 'task: backlog\n'],
  ['package.json', '{ "ralph": { "tasks": "backlog" } }', '{ "ralph": { "task": "backlog" } }'],
])('the program as it is shipped reads %s', (file, right, wrong) => {
  const root = makeFolder()
  put(root, { '.git/HEAD': '', 'backlog/T-001.md': '# T-001: Begin\n\n- **Status**: TODO\n' })
  const next = (text: string) => {
    put(root, { [file]: text })
    return spawnSync(process.execPath, [PROGRAM, 'next', '--json'], { cwd: root, encoding: 'utf8' })
  }
  const { status, stdout } = next(right)
  expect(JSON.parse(stdout)).toMatchObject({ task: { id: 'T-001', file: 'backlog/T-001.md' } })
  expect(status).toBe(0)
  const refused = next(wrong)
  expect(refused.stderr).toContain('did you mean "tasks"?')
  expect(refused.status).toBe(2)
})
