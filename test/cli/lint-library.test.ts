import { describe, expect, it } from 'vitest'
import { projectFolder, taskText } from './project-folder.ts'
import { ralph } from './ralph.ts'

const FILES = {
  'docs/tasks/T-001.md': taskText('T-001', 'Pay', { Complexity: 'Light' }),
  'docs/disciplines/front.md':
    '\ufeff# Front\n\n- **Skils**: a11y\n- **Motto**: slowly\n\n## Persona\nYou.\n\n## MCP Servers\n```json\n{"db": {"comand": "x"}}\n```\n',
  'docs/features/pay.md': '# Pay\n\n- **Knowledge**: docs/pay.md\n\n## Descripton\nMoney.\n',
  'docs/features/picture.md': Uint8Array.of(0, 255, 0),
}

const WRONG = [
  'docs/disciplines/front.md:3:1 warning bad-discipline "Skils" means nothing here; did you mean Skills?',
  'docs/disciplines/front.md:9:1 error bad-discipline server "db": "command" should be a text',
  'docs/features/pay.md:5:1 warning bad-feature "Descripton" means nothing here; did you mean Description?',
  'docs/features/picture.md:1:1 error bad-feature docs/features/picture.md is not a text in UTF-8, so it is not shown',
]

describe('ralph lint', () => {
  it('says what is wrong in disciplines and features, though no task names them', async () => {
    const { code, stdout } = await ralph(['lint'], { cwd: projectFolder(FILES) })
    expect(code).toBe(1)
    expect(stdout.split('\n\n')[0]!.split('\n')).toEqual(WRONG)
  })

  it('checks one of them by name', async () => {
    const { stdout } = await ralph(['lint', 'docs/features/pay.md'], { cwd: projectFolder(FILES) })
    expect(stdout.split('\n')[0]).toBe(WRONG[2])
    expect(stdout).not.toContain('front.md')
  })
})
