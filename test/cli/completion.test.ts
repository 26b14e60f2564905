import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, symlinkSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { PROGRAM, projectFolder, taskText } from '../repository.ts'
import { ralph } from './ralph.ts'

/** What bash offers for the last of these words. */
function offers(cwd: string, words: readonly string[]): string[] {
  const script = `
    eval "$(ralph completion bash)"
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _ralph
    printf '%s\\n' "\${COMPREPLY[@]}"`
  chmodSync(PROGRAM, 0o755)
  const env = { ...process.env, PATH: `${join(cwd, 'bin')}${delimiter}${process.env['PATH']}` }
  return execFileSync('bash', ['-c', script, 'bash', ...words], { cwd, env, encoding: 'utf8' })
    .split('\n')
    .filter(Boolean)
}

function project(): string {
  const cwd = projectFolder({
    'docs/tasks/T-001.md': taskText('T-001', 'One', { Milestone: '1 — Log in' }),
    'docs/tasks/T-002.md': taskText('T-002', 'Two; $(touch pwned)', { Milestone: '2 $(touch pwned)' }),
    'bin/.keep': '',
  })
  symlinkSync(PROGRAM, join(cwd, 'bin/ralph'))
  return cwd
}

describe.skipIf(process.platform === 'win32')('completion in bash', () => {
  it.each([
    [['ralph', 'gr'], ['graph']],
    [
      ['ralph', 'show', 'T-'],
      ['T-001', 'T-002'],
    ],
    [
      ['ralph', 'new', 'x', '--depends', ''],
      ['T-001', 'T-002'],
    ],
    [['ralph', 'list', '--mil'], ['--milestone']],
    [
      ['ralph', '--no-color', 'graph', '--d'],
      ['--dir', '--dot'],
    ],
    [['ralph', 'list', '--milestone', '"1'], ['1 — Log in']],
    [['ralph', 'log', '--milestone', '2'], [String.raw`2\ \$\(touch\ pwned\)`]],
    [
      ['ralph', 'run', '--agent', 'co'],
      ['codex', 'command', 'continue', 'copilot'],
    ],
  ])('offers for %j', (words, expected) => {
    const cwd = project()
    expect(offers(cwd, words).sort()).toEqual(expected)
    expect(existsSync(join(cwd, 'pwned'))).toBe(false)
  })
})

describe('what the scripts offer', () => {
  it.each([
    ['show\nT-\n', 'T-001\tOne\nT-002\tTwo; $(touch pwned)\n'],
    ['list\n--milestone\n\n', '1 — Log in\n2 $(touch pwned)\n'],
    ['lint\n\n', ':files\n'],
    ['graph\n--dir\n\n', ':folders\n'],
    ['new\n\n', ''],
  ])('for %j is one a line, with its description', async (input, expected) => {
    const { stdout } = await ralph(['completion', 'offers'], { cwd: project(), input })
    expect(stdout).toBe(expected)
  })
})

describe('completion for a shell', () => {
  it('is one JSON document where that is asked', async () => {
    const { stdout: text } = await ralph(['completion', 'bash'], { cwd: '/' })
    const { stdout } = await ralph(['completion', 'bash', '--json'], { cwd: '/' })
    expect(JSON.parse(stdout)).toEqual({ version: 1, for: 'bash', text })
  })

  it('that is unknown is refused', async () => {
    const { code, stderr } = await ralph(['completion', 'tcsh'], { cwd: '/' })
    expect([code, stderr]).toEqual([
      2,
      "error: there is no completion for 'tcsh'\nGive one of bash, zsh, fish.\n",
    ])
  })
})
