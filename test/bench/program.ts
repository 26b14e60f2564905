import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Style, writeBacklog } from './backlog.ts'
import type { Row } from './row.ts'

const file = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const PROGRAM = file('dist/bin.cjs')
const FLOOR = file('test/bench/floor.mjs')
const WHOLE_PARSE = file('dist/bench/whole-parse.mjs')
const REPORT_USE = file('test/bench/report-use.cjs')

/** Measures the program on generated backlogs: each command beside bare node, or beside the floor on the same backlog. */
export function benchProgram(): readonly Row[] {
  const root = mkdtempSync(join(tmpdir(), 'ralph-bench-'))
  try {
    return [...startRows(root), ...ordinaryRows(root), ...unusualRows(root)]
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

function startRows(root: string): Row[] {
  const commands = { bare: ['-e', '0'], version: [PROGRAM, '--version'], help: [PROGRAM, '--help'] }
  const [bare, version, help] = compare(root, Object.values(commands), 31)
  return [
    { what: 'node -e 0', value: milliseconds(bare!), ratio: '' },
    row('ralph --version', version!, bare!, 'bare node', 1.2),
    row('ralph --help', help!, bare!, 'bare node', 1.2),
  ]
}

function ordinaryRows(root: string): Row[] {
  const rows: Row[] = []
  const before = new Map<string, number>()
  for (const tasks of [10, 100, 1000, 10_000]) {
    const folder = makeBacklog(root, tasks, 'ordinary')
    const names = Object.keys(COMMANDS)
    const calls = names.map((name) => [PROGRAM, ...COMMANDS[name]!.args])
    const [floor, ...measuredTimes] = compare(folder, [[FLOOR], ...calls], tasks > 1000 ? 9 : 21)
    rows.push({ what: `the floor, ${tasks} tasks`, value: milliseconds(floor!), ratio: '' })
    for (const [i, name] of names.entries()) {
      const time = measuredTimes[i]!
      const most = tasks < 100 ? undefined : COMMANDS[name]!.most[tasks]
      const measured = row(`ralph ${name}, ${tasks} tasks`, time, floor!, 'the floor', most)
      const growth = tasks > 1000 ? `; ${times(time / before.get(name)!)} the time of 1000` : ''
      rows.push({ ...measured, ratio: measured.ratio + growth })
      before.set(name, time)
    }
    if (tasks > 1000) {
      rows.push(...certificateRows(folder))
      for (const [i, call] of calls.entries()) rows.push(useRow(names[i]!, folder, call))
    }
  }
  return rows
}

/** What is measured, and how many times the floor it may take with so many tasks. */
const COMMANDS: Readonly<
  Record<string, { args: readonly string[]; most: Readonly<Record<number, number>> }>
> = {
  next: { args: ['next'], most: { 100: 1.5, 1000: 1.5, 10_000: 1.5 } },
  list: { args: ['list'], most: { 10_000: 2.5 } },
  lint: { args: ['lint'], most: {} },
  'graph --mermaid': { args: ['graph', '--mermaid'], most: {} },
}

/** The same where Node reads certificates at each start, as it does behind many a proxy: it starts at half the speed. */
function certificateRows(folder: string): Row[] {
  const certificates = process.env['NODE_EXTRA_CA_CERTS']
  if (!certificates) return []
  const calls = [['-e', '0'], [FLOOR], [PROGRAM, 'next'], [PROGRAM, 'list']]
  const [bare, floor, next, list] = compare(folder, calls, 15, { NODE_EXTRA_CA_CERTS: certificates })
  const where = '10000 tasks, with extra certificates'
  return [
    { what: 'node -e 0, with extra certificates', value: milliseconds(bare!), ratio: '' },
    { what: `the floor, ${where}`, value: milliseconds(floor!), ratio: '' },
    row(`ralph next, ${where}`, next!, floor!, 'the floor', COMMANDS['next']!.most[10_000]),
    row(`ralph list, ${where}`, list!, floor!, 'the floor', COMMANDS['list']!.most[10_000]),
  ]
}

function useRow(name: string, folder: string, call: readonly string[]): Row {
  const { cpuMs, peakMb } = useOf(folder, call)
  const value = `${peakMb.toFixed(0)} MB at the peak`
  return { what: `ralph ${name}, 10000 tasks`, value, ratio: `less than 150; ${milliseconds(cpuMs)} of CPU` }
}

function unusualRows(root: string): Row[] {
  const rows: Row[] = []
  let before: number | undefined
  for (const tasks of [1000, 10_000]) {
    const folder = makeBacklog(root, tasks, 'unusual')
    const [next, whole] = compare(folder, [[PROGRAM, 'next'], [WHOLE_PARSE]], tasks > 1000 ? 3 : 7)
    const growth = before === undefined ? '' : `; ${times(next! / before)} the time of 1000`
    rows.push(
      { what: `remark-parse on each file whole, ${tasks} tasks`, value: milliseconds(whole!), ratio: '' },
      {
        what: `ralph next, ${tasks} tasks in unusual styles`,
        value: milliseconds(next!),
        ratio: `${times(whole! / next!)} as fast (at least 4.0 ×)${growth}`,
      },
    )
    before = next
  }
  return rows
}

function makeBacklog(root: string, tasks: number, style: Style): string {
  const folder = join(root, `${style}-${tasks}`)
  writeBacklog(folder, tasks, style)
  return folder
}

type Env = Readonly<Record<string, string>>

/** The median of each call, all of them in turn, so that a busy moment of the machine falls on all alike. */
function compare(
  cwd: string,
  calls: readonly (readonly string[])[],
  rounds: number,
  env: Env = {},
): number[] {
  const times = calls.map((): number[] => [])
  for (let round = 0; round < rounds; round++) {
    for (const [i, args] of calls.entries()) times[i]!.push(time(cwd, args, env))
  }
  return times.map((each) => each.toSorted((a, b) => a - b)[each.length >> 1]!)
}

function time(cwd: string, args: readonly string[], env: Env): number {
  const started = performance.now()
  run(cwd, args, env)
  return performance.now() - started
}

function useOf(cwd: string, args: readonly string[]): { cpuMs: number; peakMb: number } {
  const report = join(cwd, 'use.json')
  run(cwd, ['--require', REPORT_USE, ...args], { BENCH_USE_FILE: report })
  return JSON.parse(readFileSync(report, 'utf8'))
}

/** An answer of no is an answer. What the variable names would be read at each start of node. */
function run(cwd: string, args: readonly string[], more: Env): void {
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env
  try {
    execFileSync(process.execPath, args, { cwd, env: { ...env, ...more }, stdio: 'ignore' })
  } catch (error) {
    if (!(error instanceof Error && 'status' in error && error.status === 1)) throw error
  }
}

function row(what: string, time: number, base: number, named: string, most: number | undefined): Row {
  const limit = most === undefined ? '' : ` (at most ${most.toFixed(1)})`
  return { what, value: milliseconds(time), ratio: `${times(time / base)} ${named}${limit}` }
}

function milliseconds(value: number): string {
  return `${value.toFixed(0)} ms`
}

function times(ratio: number): string {
  return `${ratio.toFixed(2)} ×`
}
