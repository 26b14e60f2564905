import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { projectFolder } from '../project-folder.ts'
import { ralph } from '../ralph.ts'
import { env } from '../script-repository.ts'

const PROGRAMS = { claude: 'echo 99.0.0', codex: 'echo codex-cli 0.1.0', opencode: 'echo hello' }

async function findingsIn(config: object): Promise<readonly { readonly area: string }[]> {
  const bin = Object.entries(PROGRAMS).map(([name, line]) => [`bin/${name}`, `#!/bin/sh\n${line}\n`] as const)
  const cwd = projectFolder({ ...Object.fromEntries(bin), 'ralph.config.json': JSON.stringify(config) })
  for (const [file] of bin) chmodSync(join(cwd, file), 0o755)
  const world = { ...env, PATH: `${join(cwd, 'bin')}:/usr/bin:/bin`, ANTHROPIC_API_KEY: 'x' }
  const { stdout } = await ralph(['doctor', '--json'], { cwd, env: world })
  return (JSON.parse(stdout) as { findings: readonly { area: string }[] }).findings
}

async function agentsIn(config: object): Promise<readonly object[]> {
  return (await findingsIn(config)).filter(({ area }) => area === 'agents')
}

describe.skipIf(process.platform === 'win32')('the doctor', () => {
  it('shows each agent with its version, whether that is new enough, and how to get it', async () => {
    expect(await agentsIn({})).toMatchObject([
      { level: 'ok', message: 'claude 99.0.0, which runs here', fix: '' },
      { level: 'note', message: 'codex 0.1.0 is older than 0.169.0', fix: 'npm install -g @openai/codex' },
      { level: 'note', message: 'gemini is not installed', fix: 'npm install -g @google/gemini-cli' },
      { level: 'note', message: 'opencode (no version told): works from 1.18.33 on' },
      { message: 'copilot is not installed' },
      { message: 'qwen is not installed' },
      { message: 'continue is not installed' },
    ])
  })

  it('says which of them keeps a run from starting', async () => {
    expect(await agentsIn({ agent: 'codex' })).toContainEqual(
      expect.objectContaining({
        level: 'problem',
        message: 'codex 0.1.0, which runs here, is older than 0.169.0',
      }),
    )
    expect(await agentsIn({ agent: 'gemini' })).toContainEqual(
      expect.objectContaining({ level: 'problem', message: 'gemini is not installed' }),
    )
  })

  it('names what is no agent in the configuration, with its place and the closest one', async () => {
    expect(await findingsIn({ fallback: ['codez'] })).toContainEqual({
      area: 'config',
      level: 'problem',
      message: expect.stringMatching(/^ralph\.config\.json:1:14 fallback\[0\]: .* did you mean "codex"\?$/),
      fix: 'A key that is left out has its default.',
    })
  })
})
