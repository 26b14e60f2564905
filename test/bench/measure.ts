import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ENV, makeFolder, put } from '../repository.ts'

/** One measured thing, and how it stands to what it is measured against. */
export interface Row {
  readonly what: string
  readonly value: string
  readonly ratio: string
}

/** A file of this repository: the bundled benchmark is as deep in it as this file. */
export const fileOf = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))
/** The program as it is built. */
export const PROGRAM = fileOf('dist/bin.cjs')

type Environment = Readonly<Record<string, string | undefined>>

/** Runs ralph, or another program of Node, to its end. An answer of no is an answer. */
export function runNode(cwd: string, args: readonly string[], env: Environment = {}): void {
  run(cwd, [process.execPath, ...args], env)
}

export function run(cwd: string, [program = '', ...args]: readonly string[], env: Environment = {}): void {
  const options = { cwd, env: { ...ENV, ...env }, stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 2 ** 28 }
  try {
    execFileSync(program, args, { ...options, stdio: ['ignore', 'pipe', 'ignore'] })
  } catch (error) {
    if (!(error instanceof Error && 'status' in error && error.status === 1)) throw error
  }
}

/** What ralph took: its own processor time and its peak memory. */
export function useOf(
  cwd: string,
  args: readonly string[],
  env: Environment = {},
): { readonly cpuMs: number; readonly peakMb: number } {
  const report = join(makeFolder(), 'use.json')
  const whole = ['--require', fileOf('test/bench/report-use.cjs'), PROGRAM, ...args]
  runNode(cwd, whole, { ...env, BENCH_USE_FILE: report })
  return JSON.parse(readFileSync(report, 'utf8'))
}

/** The milliseconds that something takes. */
export async function timed(work: () => unknown): Promise<number> {
  const begun = performance.now()
  await work()
  return performance.now() - begun
}

/** The median of each, all of them in turn, so that a busy moment of the machine falls on all alike. */
export async function inTurns<Name extends string>(
  rounds: number,
  works: Readonly<Record<Name, () => unknown>>,
): Promise<Readonly<Record<Name, number>>> {
  const names = Object.keys(works) as Name[]
  const taken = new Map(names.map((name) => [name, [] as number[]]))
  for (let round = 0; round < rounds; round++)
    for (const name of names) taken.get(name)!.push(await timed(works[name]))
  return Object.fromEntries(names.map((name) => [name, median(taken.get(name)!)])) as Record<Name, number>
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN
}

export function ms(value: number, digits = 0): string {
  return `${value.toFixed(digits)} ms`
}

export function times(ratio: number): string {
  return `${ratio.toFixed(2)} ×`
}

/** The files of a backlog whose tasks a script does, and a configuration without gates and seal. */
export function scriptedFiles(count: number, script: string, config: object = {}): Record<string, string> {
  const ids = Array.from({ length: count }, (_, index) => `T-${String(index + 1).padStart(4, '0')}`)
  const text = (id: string): string =>
    `# ${id}: Write a file\n\n- **Status**: TODO\n\n## Script\n\`\`\`sh\n${script}\n\`\`\`\n`
  const settings = { agent: 'script', commit: { seal: false }, gates: [], ...config }
  return {
    ...Object.fromEntries(ids.map((id) => [`docs/tasks/${id}.md`, text(id)])),
    '.gitignore': '.ralph/\n',
    'ralph.config.json': JSON.stringify(settings),
  }
}

/** Milliseconds of `git add -A && git commit` of one file. */
export async function bareCommits(root: string, name: string): Promise<readonly number[]> {
  const all: number[] = []
  for (let number = 0; number < 11; number++) {
    put(root, { [`bare/${name}-${number}.txt`]: `${number}\n` })
    all.push(await timed(() => run(root, ['sh', '-c', 'git add -A && git commit -q -m bare'])))
  }
  return all
}
