import { join } from 'node:path'
import { makeFolder } from '../repository.ts'
import { writeBacklog } from './backlog.ts'
import { fileOf, inTurns, ms, PROGRAM, runNode, times, useOf, type Row } from './measure.ts'

const FLOOR = [fileOf('test/bench/floor.mjs')]
const WHOLE_PARSE = [fileOf('dist/bench/whole-parse.mjs')]

/** What is measured, and how many times the floor it may take with so many tasks. */
const COMMANDS: Readonly<Record<string, Readonly<Record<number, number>>>> = {
  next: { 100: 1.5, 1000: 1.5, 10_000: 1.5 },
  list: { 10_000: 2.5 },
  lint: {},
  'graph --mermaid': {},
}

/** Measures the program on generated backlogs: each command beside bare node, or beside the floor on the same backlog. */
export async function benchProgram(): Promise<readonly Row[]> {
  const root = makeFolder()
  return [...(await startRows(root)), ...(await ordinaryRows(root)), ...(await unusualRows(root))]
}

/** The median of each call of node. */
function compare<Name extends string>(
  cwd: string,
  rounds: number,
  calls: Readonly<Record<Name, readonly string[]>>,
): Promise<Readonly<Record<Name, number>>> {
  const works = Object.entries<readonly string[]>(calls).map(([name, args]) => [
    name,
    () => runNode(cwd, args),
  ])
  return inTurns(rounds, Object.fromEntries(works) as Record<Name, () => void>)
}

async function startRows(root: string): Promise<readonly Row[]> {
  const calls = { bare: ['-e', '0'], version: [PROGRAM, '--version'], help: [PROGRAM, '--help'] }
  const { bare, version, help } = await compare(root, 31, calls)
  return [
    { what: 'node -e 0', value: ms(bare), ratio: '' },
    row('ralph --version', version, bare, 'bare node', 1.2),
    row('ralph --help', help, bare, 'bare node', 1.2),
  ]
}

async function ordinaryRows(root: string): Promise<readonly Row[]> {
  const rows: Row[] = []
  let before: Readonly<Record<string, number>> = {}
  for (const tasks of [10, 100, 1000, 10_000]) {
    const folder = makeBacklog(root, tasks, 'ordinary')
    const calls = Object.keys(COMMANDS).map((name) => [name, [PROGRAM, ...name.split(' ')]] as const)
    const all = { floor: FLOOR, ...Object.fromEntries(calls) }
    const taken: Readonly<Record<string, number>> = await compare(folder, tasks > 1000 ? 9 : 21, all)
    rows.push({ what: `the floor, ${tasks} tasks`, value: ms(taken['floor']!), ratio: '' })
    for (const [name, most] of Object.entries(COMMANDS)) {
      const measured = row(
        `ralph ${name}, ${tasks} tasks`,
        taken[name]!,
        taken['floor']!,
        'the floor',
        most[tasks],
      )
      const growth = tasks > 1000 ? `; ${times(taken[name]! / before[name]!)} the time of 1000` : ''
      rows.push({ ...measured, ratio: measured.ratio + growth })
    }
    before = taken
    if (tasks > 1000) rows.push(...Object.keys(COMMANDS).map((name) => useRow(name, folder)))
  }
  return rows
}

function useRow(name: string, folder: string): Row {
  const { cpuMs, peakMb } = useOf(folder, name.split(' '))
  const value = `${peakMb.toFixed(0)} MB at the peak`
  return { what: `ralph ${name}, 10000 tasks`, value, ratio: `less than 150; ${ms(cpuMs)} of CPU` }
}

async function unusualRows(root: string): Promise<readonly Row[]> {
  const rows: Row[] = []
  let before: number | null = null
  for (const tasks of [1000, 10_000]) {
    const folder = makeBacklog(root, tasks, 'unusual')
    const calls = { next: [PROGRAM, 'next'], whole: WHOLE_PARSE }
    const { next, whole } = await compare(folder, tasks > 1000 ? 3 : 7, calls)
    const growth = before === null ? '' : `; ${times(next / before)} the time of 1000`
    rows.push(
      { what: `remark-parse on each file whole, ${tasks} tasks`, value: ms(whole), ratio: '' },
      {
        what: `ralph next, ${tasks} tasks in unusual styles`,
        value: ms(next),
        ratio: `${times(whole / next)} as fast (at least 4.0 ×)${growth}`,
      },
    )
    before = next
  }
  return rows
}

function makeBacklog(root: string, tasks: number, style: Parameters<typeof writeBacklog>[2]): string {
  const folder = join(root, `${style}-${tasks}`)
  writeBacklog(folder, tasks, style)
  return folder
}

function row(what: string, time: number, base: number, named: string, most: number | undefined): Row {
  const limit = most === undefined ? '' : ` (at most ${most.toFixed(1)})`
  return { what, value: ms(time), ratio: `${times(time / base)} ${named}${limit}` }
}
