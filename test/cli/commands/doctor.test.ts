import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { env, projectFolder, put } from '../../repository.ts'
import { by, jsonOf, ralph } from '../ralph.ts'

const PROGRAMS = { claude: 'echo 99.0.0', codex: 'echo codex-cli 0.1.0', opencode: 'echo hello' }

async function findingsIn(
  config: object,
  programs: object = {},
): Promise<readonly { readonly area: string }[]> {
  const bin = Object.entries({ ...PROGRAMS, ...programs }).map(
    ([name, line]) => [`bin/${name}`, `#!/bin/sh\n${line}\n`] as const,
  )
  const cwd = projectFolder({ ...Object.fromEntries(bin), 'ralph.config.json': JSON.stringify(config) })
  for (const [file] of bin) chmodSync(join(cwd, file), 0o755)
  const world = { ...env, PATH: `${join(cwd, 'bin')}:/usr/bin:/bin`, ANTHROPIC_API_KEY: 'x' }
  const { stdout } = await ralph(['doctor', '--json'], { cwd, env: world })
  return (JSON.parse(stdout) as { findings: readonly { area: string }[] }).findings
}

async function agentsIn(config: object, programs: object = {}): Promise<readonly object[]> {
  return (await findingsIn(config, programs)).filter(({ area }) => area === 'agents')
}

describe.skipIf(process.platform === 'win32')('the doctor', () => {
  it('shows each agent with its version, whether that is new enough, and how to get it', async () => {
    expect(await agentsIn({})).toMatchObject([
      { level: 'ok', message: 'claude 99.0.0, which runs here', fix: '' },
      { level: 'note', message: 'codex 0.1.0 is older than 0.169.0', fix: 'npm install -g @openai/codex' },
      { level: 'note', message: 'gemini is not installed', fix: 'npm install -g @google/gemini-cli' },
      { level: 'note', message: 'opencode (version unknown): works from 1.18.33 on' },
      { message: 'copilot is not installed' },
      { message: 'qwen is not installed' },
      { message: 'continue is not installed' },
    ])
  })

  it('says which of them keeps a run from starting', async () => {
    expect(await agentsIn({ agent: 'gemini' })).toContainEqual(
      expect.objectContaining({ level: 'problem', message: 'gemini is not installed' }),
    )
  })

  it('only notes that the one which runs here is older than what ralph was tested with', async () => {
    expect(await agentsIn({ agent: 'codex' })).toContainEqual(
      expect.objectContaining({
        level: 'note',
        message: 'codex 0.1.0, which runs here, is older than 0.169.0',
        fix: 'npm install -g @openai/codex',
      }),
    )
  })

  it('tells of a program that does not start in its own words', async () => {
    const programs = { claude: 'echo "Error: Node 22 is needed" >&2; echo "Node.js v20.19.0" >&2; exit 1' }
    expect(await agentsIn({}, programs)).toContainEqual(
      expect.objectContaining({
        level: 'problem',
        message: 'claude, which runs here, does not start: Error: Node 22 is needed Node.js v20.19.0',
        fix: 'npm install -g @anthropic-ai/claude-code@latest',
      }),
    )
  })

  it('looks at the agents that need no program where one of them runs here', async () => {
    expect(await agentsIn({ agent: 'script' })).toContainEqual(
      expect.objectContaining({ level: 'ok', message: 'script, which runs here' }),
    )
    expect(await agentsIn({ agent: 'command', command: './no-such-agent' })).toContainEqual(
      expect.objectContaining({
        level: 'problem',
        message: expect.stringContaining('finds no program "./no-such-agent" to run'),
      }),
    )
  })

  it('says which gate cannot start, and that this keeps a run from starting', async () => {
    const gates = [
      { name: 'test', command: 'CI=1 no-such-pnpm test' },
      { name: 'here', command: 'test -d . && echo yes' },
      { name: 'lint', command: 'golangci run', required: false },
    ]
    const found = (await findingsIn({ gates })).filter(({ area }) => area === 'gates')
    expect(found).toMatchObject([
      {
        level: 'problem',
        message: expect.stringMatching(/\(configured\) cannot start: there is no no-such-pnpm here$/),
        fix: 'Install no-such-pnpm, or give other "gates" in ralph.config.json',
      },
      { level: 'ok' },
      { level: 'note', message: expect.stringContaining('there is no golangci here') },
    ])
  })

  it('names a linter that may fail because an earlier ralph init wrote that', async () => {
    const lint = { name: 'lint', command: 'npm run lint', required: false }
    const docs = { name: 'docs', command: 'true', required: false }
    const root = projectFolder({
      'package.json': '{"scripts":{"lint":"eslint ."}}',
      'ralph.config.json': JSON.stringify({ gates: [lint, docs] }),
    })
    const { findings } = await jsonOf(root, 'doctor')
    const notes = findings.filter(({ fix }: { fix: string }) => fix.includes('if-green'))
    expect(notes).toMatchObject([{ level: 'note', message: expect.stringMatching(/^lint: may fail unseen/) }])
    put(root, { 'ralph.config.json': JSON.stringify({ gates: [{ ...lint, required: 'if-green' }] }) })
    expect((await by(root, 'doctor')).stdout).not.toContain('may fail unseen')
  })

  it('names a configuration that is a program, and so not read', async () => {
    const cwd = projectFolder({ 'ralph.config.js': 'throw new Error("read")' })
    expect(await jsonOf(cwd, 'doctor')).toMatchObject({
      findings: expect.arrayContaining([
        expect.objectContaining({
          level: 'note',
          message: expect.stringMatching(/^ralph\.config\.js is not read/),
        }),
      ]),
    })
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
