import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { projectFolder, taskText } from '../project-folder.ts'
import { ralph } from '../ralph.ts'

describe('ralph lint --fix', () => {
  const texts = {
    'docs/tasks/T-001.md': taskText('T-001', 'Pay', { Status: 'done' }),
    'docs/tasks/T-002.md': taskText('T-002', 'Bill', { Status: 'todo', Depends: 'T-1' }),
    'docs/tasks/T-003.md': taskText('T-003', 'Ship', { Depends: 'T-002' }),
  }
  const textIn = (root: string, file: string): string => readFileSync(join(root, file), 'utf8')

  it('writes what it mends, names it, and finds nothing a second time', async () => {
    const root = projectFolder(texts)
    const { stdout } = await ralph(['lint', '--fix'], { cwd: root })
    expect(stdout).toMatch(/^fixed docs\/tasks\/T-001\.md\nfixed docs\/tasks\/T-002\.md\n/)
    expect(stdout).not.toContain('status-case')
    expect(textIn(root, 'docs/tasks/T-002.md')).toBe(
      taskText('T-002', 'Bill', { Status: 'TODO', Depends: 'T-001' }),
    )
    expect(textIn(root, 'docs/tasks/T-003.md')).toBe(texts['docs/tasks/T-003.md'])
    const again = await ralph(['lint', '--fix', '--json'], { cwd: root })
    expect(JSON.parse(again.stdout)).toMatchObject({ fixed: [] })
  })

  it('leaves alone what is not named', async () => {
    const root = projectFolder(texts)
    const { stdout } = await ralph(['lint', '--fix', '--json', 'docs/tasks/T-002.md'], { cwd: root })
    expect(JSON.parse(stdout)).toMatchObject({ fixed: ['docs/tasks/T-002.md'] })
    expect(textIn(root, 'docs/tasks/T-001.md')).toBe(texts['docs/tasks/T-001.md'])
  })
})
