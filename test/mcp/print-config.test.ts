import { describe, expect, it } from 'vitest'
import { ralph } from '../cli/ralph.ts'
import { makeFolder } from '../repository.ts'

const self = ['/usr/bin/node', '/opt/my ralph/bin.cjs'] as const
const print = (client: string, ...more: string[]) =>
  ralph(['mcp', '--print-config', client, ...more], { cwd: makeFolder(), self: [...self] })

describe('ralph mcp --print-config', () => {
  it('prints what each program reads, and on stderr where to add it', async () => {
    const pages: string[] = []
    for (const client of ['claude', 'codex', 'gemini', 'opencode', 'cursor', 'vscode']) {
      const { code, stdout, stderr } = await print(client)
      pages.push(`── ${client}: ${code}\n${stdout}── stderr\n${stderr}`)
    }
    await expect(pages.join('\n')).toMatchFileSnapshot('golden/print-config.txt')
  })

  it('quotes what a shell would take apart', async () => {
    const { stdout } = await print('claude', '--json')
    expect(JSON.parse(stdout)).toMatchObject({
      client: 'claude',
      command: "claude mcp add --scope project ralph -- /usr/bin/node '/opt/my ralph/bin.cjs' mcp",
    })
  })

  it('knows no other program, and speaks with no terminal', async () => {
    expect(await print('emacs')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('one of claude, codex'),
    })
    expect(await ralph(['mcp'], { cwd: makeFolder() })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('not with a terminal'),
    })
  })
})
