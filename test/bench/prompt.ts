import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** One measured thing, and how it stands to what it is measured against. */
export interface PromptRow {
  readonly what: string
  readonly value: string
  readonly ratio: string
}

const PROGRAM = fileURLToPath(new URL('../../dist/bin.cjs', import.meta.url))
const TASKS = 1000
const FILES = 20
const LINES = 100
const ROUNDS = 21

/** Measures the prompt of a task with 20 files in a backlog of 1,000 tasks, beside `ralph next` on the same. */
export function benchPrompt(): readonly PromptRow[] {
  const root = mkdtempSync(join(tmpdir(), 'ralph-bench-prompt-'))
  try {
    makeBacklog(root)
    const rounds = Array.from({ length: ROUNDS }, () => ({
      bare: time(root, ['-e', '0']),
      next: time(root, [PROGRAM, 'next']),
      prompt: time(root, [PROGRAM, 'prompt', String(TASKS / 2 + 1)]),
    }))
    const bare = median(rounds.map((round) => round.bare))
    const next = median(rounds.map((round) => round.next))
    const prompt = median(rounds.map((round) => round.prompt))
    return [
      { what: 'node -e 0', value: milliseconds(bare), ratio: '' },
      { what: `ralph next, ${TASKS} tasks`, value: milliseconds(next), ratio: times(next / bare) },
      {
        what: `ralph prompt, ${FILES} files of ${LINES} lines, ${TASKS} tasks`,
        value: milliseconds(prompt),
        ratio: `${times(prompt / bare)}, ${milliseconds(prompt - next)} over ralph next (at most 60 ms)`,
      },
    ]
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

function makeBacklog(root: string): void {
  mkdirSync(join(root, 'docs/tasks'), { recursive: true })
  mkdirSync(join(root, 'src'))
  writeFileSync(join(root, 'package.json'), '{ "scripts": { "test": "node --test" } }')
  for (let file = 0; file < FILES; file++) writeFileSync(join(root, `src/f${file}.ts`), sourceFile(file))
  for (let number = 1; number <= TASKS; number++) {
    writeFileSync(join(root, `docs/tasks/${idOf(number)}.md`), taskFile(number))
  }
  const identity = ['-c', 'user.name=bench', '-c', 'user.email=bench@example.org']
  for (const args of [['init'], ['add', '.'], [...identity, 'commit', '--message', 'Begin']]) {
    execFileSync('git', args, { cwd: root, stdio: 'ignore' })
  }
}

function taskFile(number: number): string {
  const isDone = number <= TASKS / 2
  const touches = Array.from({ length: FILES }, (_, file) => `src/f${file}.ts`).join(', ')
  return [
    `# ${idOf(number)}: Task ${number}`,
    '',
    `- **Status**: ${isDone ? 'DONE' : 'TODO'}`,
    `- **Milestone**: ${Math.ceil(number / 50)} — Group ${Math.ceil(number / 50)}`,
    `- **Depends**: ${number > 1 ? idOf(number - 1) : 'none'}`,
    `- **Touches**: ${touches}`,
    '',
    '## Description',
    ...Array.from({ length: 45 }, (_, line) => `Line ${line} of what to do, and why it is to be done so.`),
    '',
    '## Acceptance Criteria',
    '- [ ] It works',
    ...(isDone ? ['', '## Completion Notes', 'Done as described.'] : []),
    '',
  ].join('\n')
}

function sourceFile(file: number): string {
  return Array.from(
    { length: 200 },
    (_, line) => `export const value${line} = add(${file}, ${line}) // a remark\n`,
  ).join('')
}

function idOf(number: number): string {
  return `T-${String(number).padStart(4, '0')}`
}

function time(cwd: string, args: readonly string[]): number {
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env
  const started = performance.now()
  execFileSync(process.execPath, args, { cwd, env, stdio: ['ignore', 'pipe', 'ignore'] })
  return performance.now() - started
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}

function milliseconds(value: number): string {
  return `${value.toFixed(0)} ms`
}

function times(ratio: number): string {
  return `${ratio.toFixed(1)} × bare node`
}
