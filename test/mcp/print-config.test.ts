import { parse } from 'jsonc-parser'
import { describe, expect, it } from 'vitest'
import { ralph } from '../cli/ralph.ts'
import { makeFolder } from '../repository.ts'

const self = ['/usr/bin/node', '/opt/my ralph/bin.cjs'] as const
const print = (client: string, ...more: string[]) =>
  ralph(['mcp', '--print-config', client, ...more], { cwd: makeFolder(), self: [...self] })

describe('ralph mcp --print-config', () => {
  it.each(['claude', 'gemini', 'opencode', 'cursor', 'vscode'])('prints what %s reads', async (client) => {
    const { code, stdout, stderr } = await print(client)
    expect(code).toBe(0)
    expect(JSON.stringify(parse(stdout))).toContain('"ralph":{')
    for (const part of [...self, 'mcp']) expect(stdout).toContain(JSON.stringify(part))
    expect(stderr).toContain('Add it to ')
  })

  it('prints what codex reads, and nothing else on stdout', async () => {
    const { stdout } = await print('codex')
    expect(stdout).toBe(
      '[mcp_servers.ralph]\ncommand = "/usr/bin/node"\nargs = ["/opt/my ralph/bin.cjs","mcp"]\n',
    )
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
