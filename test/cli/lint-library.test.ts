import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { projectFolder, taskText } from '../repository.ts'
import { by, ralph } from './ralph.ts'

const FILES = {
  'docs/tasks/T-001.md': taskText('T-001', 'Pay', { Complexity: 'Light' }),
  'docs/disciplines/front.md':
    '\ufeff# Front\n\n- **Skils**: a11y\n- **Motto**: slowly\n\n## Persona\nYou.\n\n## MCP Servers\n```json\n{"db": {"comand": "x"}}\n```\n',
  'docs/features/pay.md': '# Pay\n\n- **Knowledge**: docs/pay.md\n\n## Descripton\nMoney.\n',
  'docs/features/picture.md': Uint8Array.of(0, 255, 0),
}

const WRONG = [
  'docs/disciplines/front.md:3:1 warning bad-discipline "Skils" means nothing here; did you mean Skills?',
  'docs/disciplines/front.md:9:1 error bad-discipline server "db": expected a "command" that is a text, perhaps "args" that are a list of texts, and "env" with texts by name',
  'docs/features/pay.md:5:1 warning bad-feature "Descripton" means nothing here; did you mean Description?',
  'docs/features/picture.md:1:1 error bad-feature docs/features/picture.md is not a text in UTF-8, so it is not shown',
]

describe('ralph lint', () => {
  it('says what is wrong in disciplines and features, though no task names them', async () => {
    const { code, stdout } = await ralph(['lint'], { cwd: projectFolder(FILES) })
    expect(code).toBe(1)
    expect(stdout.split('\n\n')[0]!.split('\n')).toEqual(WRONG)
  })

  it('says of an agent that there is not and of a path out of the repository what it says of those of a task', async () => {
    const cwd = projectFolder({
      'docs/tasks/T-001.md': taskText('T-001', 'Pay', { Complexity: 'Light' }),
      'docs/disciplines/back.md': '# Back\n\n- **Skills**: SQL\n- **Agent**: `cluade`\n',
      'docs/disciplines/front.md': '# Front\n\n- **Agent**: claude\n',
      'docs/features/pay.md':
        '# Pay\n\n- **Knowledge**: docs/pay.md, `../law.md`\n- **Context**: out/**, /etc/passwd\n',
    })
    symlinkSync('..', join(cwd, 'out'))
    const { code, stdout } = await by(cwd, 'lint')
    expect(code).toBe(1)
    expect(stdout.split('\n\n')[0]!.split('\n')).toEqual([
      'docs/disciplines/back.md:4:15 error bad-discipline Agent "cluade" is none that ralph knows (did you mean claude?)',
      'docs/features/pay.md:3:32 error bad-feature "../law.md" is outside the repository',
      'docs/features/pay.md:4:16 error bad-feature "out/**" is outside the repository',
      'docs/features/pay.md:4:24 error bad-feature "/etc/passwd" is outside the repository',
    ])
  })

  it('checks one of them by name', async () => {
    const { stdout } = await ralph(['lint', 'docs/features/pay.md'], { cwd: projectFolder(FILES) })
    expect(stdout.split('\n')[0]).toBe(WRONG[2])
    expect(stdout).not.toContain('front.md')
  })
})
