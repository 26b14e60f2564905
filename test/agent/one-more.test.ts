import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ENV, git, makeRepository } from '../repository.ts'

const PROJECT = fileURLToPath(new URL('../..', import.meta.url))

const PROGRAM = `#!/bin/sh
if [ "$1" = --version ]; then echo mine 1.2.3; exit; fi
cat > prompt.txt
printf '%s\\n' '{"type":"say","text":"I write it."}'
printf '%s\\n' '{"type":"end","turns":3,"text":"Wrote it.\\n\\n<TASK_DONE>"}'
`

let folder: string
let program: string
beforeAll(async () => {
  const cache = join(PROJECT, 'node_modules/.cache')
  mkdirSync(cache, { recursive: true })
  // Below the project, where its packages are found.
  folder = mkdtempSync(join(cache, 'one-more-'))
  for (const name of ['src', 'package.json'])
    cpSync(join(PROJECT, name), join(folder, name), { recursive: true })
  // The one file: how the agent is called, and how its stream is read.
  cpSync(new URL('one-more.txt', import.meta.url), join(folder, 'src/agents/providers/mine.ts'))
  const registry = join(folder, 'src/agents/registry.ts')
  const line = "  agent('mine', 'my-program', async () => (await import('./providers/mine.ts')).mine),\n"
  const lines = readFileSync(registry, 'utf8').split(/(?<=\n)/)
  lines.splice(
    lines.findIndex((other) => other.includes("'./providers/claude.ts'")),
    0,
    line,
  )
  writeFileSync(registry, lines.join(''))
  const names = join(folder, 'src/base/names.ts')
  writeFileSync(names, readFileSync(names, 'utf8').replace("  'claude',", "  'mine',\n  'claude',"))
  const bundle = await rolldown({ input: join(folder, 'src/bin.ts'), platform: 'node', logLevel: 'silent' })
  await bundle.write({
    dir: join(folder, 'dist'),
    format: 'cjs',
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name].cjs',
  })
  program = join(folder, 'dist/bin.cjs')
  mkdirSync(join(folder, 'bin'))
  writeFileSync(join(folder, 'bin/my-program'), PROGRAM)
  chmodSync(join(folder, 'bin/my-program'), 0o755)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function ralph(root: string, ...args: readonly string[]): string {
  const path = [join(folder, 'bin'), ENV['PATH']].join(delimiter)
  const env = { ...ENV, PATH: path, MINE_KEY: 'dummy', HOME: folder }
  return execFileSync(process.execPath, [program, ...args], { cwd: root, env, encoding: 'utf8' })
}

test.skipIf(process.platform === 'win32')(
  'one more agent is one file, its name, and one line in the registry: it is found, looked at, asked and believed',
  () => {
    const root = makeRepository({
      'docs/tasks/T-001.md':
        '# T-001: Write it\n\n- **Status**: TODO\n\n## Description\n\nWrite it.\n\n## Acceptance Criteria\n\n- [ ] It is written\n',
      'docs/tasks/T-002.md':
        '# T-002: Write more\n\n- **Status**: TODO\n- **Depends**: T-001\n- **Agent**: mine\n\n## Description\n\nWrite.\n\n## Acceptance Criteria\n\n- [ ] It is written\n',
      'ralph.config.json': JSON.stringify({ gates: [], commit: { seal: false } }),
    })
    expect(ralph(root, 'next').split('\n')[1]).toMatch(/ · mine$/)
    expect(JSON.parse(ralph(root, 'lint', '--json'))).toMatchObject({ diagnostics: [] })
    expect(JSON.parse(ralph(root, 'doctor', '--json'))).toMatchObject({
      findings: expect.arrayContaining([
        expect.objectContaining({ level: 'ok', message: 'mine 1.2.3, which runs here' }),
      ]),
    })
    ralph(root, 'run')
    expect(git(root, 'log', '-1', '--format=%s%n%(trailers:key=Agent,key=Turns)').trim()).toBe(
      'T-001: Write it\nAgent: mine 1.2.3\nTurns: 3',
    )
    expect(git(root, 'show', 'HEAD:prompt.txt')).toContain('T-001')
  },
)
