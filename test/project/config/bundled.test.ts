import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const program = fileURLToPath(new URL('../../../dist/bin.cjs', import.meta.url))

it.each([
  ['ralph.config.json', '{ "tasks": "backlog" /* here */ }', '{ "task": "backlog" }'],
  ['ralph.config.yaml', 'tasks: backlog\n', 'task: backlog\n'],
  ['package.json', '{ "ralph": { "tasks": "backlog" } }', '{ "ralph": { "task": "backlog" } }'],
])('the program as it is shipped reads %s', (file, right, wrong) => {
  const root = mkdtempSync(join(tmpdir(), 'ralph-shipped-'))
  const next = (text: string) => {
    writeFileSync(join(root, file), text)
    return spawnSync(process.execPath, [program, 'next', '--json'], { cwd: root, encoding: 'utf8' })
  }
  mkdirSync(join(root, '.git'))
  mkdirSync(join(root, 'backlog'))
  writeFileSync(join(root, 'backlog/T-001.md'), '# T-001: Begin\n\n- **Status**: TODO\n')

  const { status, stdout } = next(right)
  expect(JSON.parse(stdout)).toMatchObject({ task: { id: 'T-001', file: 'backlog/T-001.md' } })
  expect(status).toBe(0)

  const refused = next(wrong)
  expect(refused.stderr).toContain('did you mean "tasks"?')
  expect(refused.status).toBe(2)
  rmSync(root, { recursive: true })
})
