import type { TaskState } from '../backlog/select/selection.ts'
import { compareNumbers, type TaskNumber } from '../backlog/ids.ts'
import type { Facts } from '../backlog/model.ts'
import { dim, line, table, BLANK, type Cell, type View } from './block.ts'
import { signOf } from './task-lines.ts'

/** A line down from a task to the last one that needs it. */
interface Lane {
  readonly number: TaskNumber
  readonly firstRow: number
  readonly lastRow: number
}

type Lanes = (Lane | null)[]

/**
 * Draws dependencies as lanes: each task is a sign on its own row, below all its needs, and a lane runs from it to
 * each dependant. A limit for the lanes also limits the work for each row.
 */
export function graphRows(states: readonly TaskState<DrawnTask>[], limit: number) {
  const order = inParts(states)
  const lastRows = lastRowsThatNeed(order)
  const lanes: Lanes = []
  return order.map((state, row) => {
    const needs = new Set(state.task.needs)
    const joined = [...lanes.keys()].filter((column) => needs.has(lanes[column]?.number ?? -1))
    const ending = joined.filter((column) => lanes[column]?.lastRow === row)
    const column = ending[0] ?? freeColumn(lanes)
    // A task right below its need has no row between them for a line.
    const drawn = joined.filter((at) => at !== column || lanes[at]?.firstRow !== row - 1)
    const seen = new Set(drawn.map((at) => lanes[at]?.number))
    // The text left and right of the task's sign.
    const { before, after } = draw({ lanes, joined, ending, column })
    for (const ended of ending) lanes[ended] = null
    const lastRow = lastRows.get(state.task.number) ?? -1
    if (lastRow > row && column < limit) lanes[column] = { number: state.task.number, firstRow: row, lastRow }
    // The needs without a line: missing tasks, members of its cycle, those without a free lane, or the one right above.
    const unseen = state.task.depends.filter(({ number }) => !seen.has(number))
    return { state, before, after, unseen: unseen.map(({ id }) => id) }
  })
}

function lastRowsThatNeed(order: readonly TaskState<DrawnTask>[]): Map<TaskNumber, number> {
  const rows = new Map<TaskNumber, number>()
  for (const [row, { task }] of order.entries()) for (const number of task.needs) rows.set(number, row)
  return rows
}

function freeColumn(lanes: Lanes): number {
  const free = lanes.indexOf(null)
  return free === -1 ? lanes.length : free
}

function draw({
  lanes,
  joined,
  ending,
  column,
}: {
  lanes: Lanes
  joined: readonly number[]
  ending: readonly number[]
  column: number
}) {
  const from = Math.min(column, ...joined)
  const to = Math.max(column, ...joined)
  const parts = { before: '', after: '' }
  for (let at = 0; at < Math.max(lanes.length, column + 1); at++) {
    const [left, right] = [at > from && at <= to, at >= from && at < to]
    const link = right ? '─' : ' '
    if (at === column) parts.after = link
    else {
      const sign = joined.includes(at)
        ? joint(left, right, ending.includes(at))
        : lanes[at]
          ? '│'
          : left && right
            ? '─'
            : ' '
      parts[at < column ? 'before' : 'after'] += `${sign}${link}`
    }
  }
  return parts
}

/** The sign where a lane meets the line to a dependant: it ends there, or continues. */
function joint(left: boolean, right: boolean, ends: boolean): string {
  if (left && right) return ends ? '┴' : '┼'
  if (right) return ends ? '└' : '├'
  return ends ? '┘' : '┤'
}

/** The facts of a task in the graph. */
export type DrawnTask = Facts<'title' | 'depends'>

/** The tasks of one connected part after another, so that no lane runs past tasks that it has nothing to do with. */
function inParts(states: readonly TaskState<DrawnTask>[]): readonly TaskState<DrawnTask>[] {
  const linked = new Map<TaskNumber, TaskNumber[]>(states.map(({ task }) => [task.number, [...task.needs]]))
  for (const { task } of states) for (const needed of task.needs) linked.get(needed)?.push(task.number)
  const parts = new Map<TaskNumber, TaskState<DrawnTask>[]>()
  for (const first of [...linked.keys()].toSorted(compareNumbers)) {
    if (parts.has(first)) continue
    const part: TaskState<DrawnTask>[] = []
    const reached = new Set<TaskNumber>([first])
    for (const number of reached) {
      parts.set(number, part)
      for (const next of linked.get(number) ?? []) reached.add(next)
    }
  }
  for (const state of states) parts.get(state.task.number)?.push(state)
  return [...new Set(parts.values())].flatMap(inLayers)
}

/** The tasks in layers, each below all its needs, by number within a layer; tasks that wait for a cycle come last. */
function inLayers(states: readonly TaskState<DrawnTask>[]): readonly TaskState<DrawnTask>[] {
  const open = new Set(states.map(({ task }) => task.number))
  const order: TaskState<DrawnTask>[] = []
  for (let rest = states; ;) {
    const isFree = ({ task }: TaskState<DrawnTask>): boolean => !task.needs.some((number) => open.has(number))
    const layer = rest.filter(isFree).sort((a, b) => compareNumbers(a.task.number, b.task.number))
    if (layer.length === 0) return [...order, ...rest]
    rest = rest.filter((state) => !isFree(state))
    order.push(...layer)
    for (const { task } of layer) open.delete(task.number)
  }
}

/** More lanes would leave no room for titles; the other needs are listed in words. */
const MOST_LANES = 16
const LEAST_LANES = 4
const TITLE_COLUMNS = 44

/** The dependencies drawn for a terminal of that width; null for a pipe. */
export function graphView(states: readonly TaskState<DrawnTask>[], columns: number | null): View {
  const limit = Math.max(
    LEAST_LANES,
    Math.min(MOST_LANES, Math.floor(((columns ?? 100) - TITLE_COLUMNS) / 2)),
  )
  const rows = graphRows(states, limit).map(({ state, before, after, unseen }): readonly Cell[] => {
    const { task } = state
    const isDone = task.status === 'DONE'
    const needs = unseen.length > 0 ? dim(`← ${unseen.join(', ')}`) : ''
    return [[dim(before), signOf(state), dim(after)], task.id, isDone ? dim(task.title) : task.title, needs]
  })
  return [
    ...table(rows, { shrink: [2], indent: '' }),
    BLANK,
    line(dim('✓ done  ▸ eligible  · waits  ■ blocked  ? unclear')),
    ...(rows.length > MOST_ROWS ? [line(dim(LESS))] : []),
  ]
}

/** In a drawing longer than a screen, the start of a lane is not visible. */
const MOST_ROWS = 30
const LESS =
  'Less of it: ralph graph --todo leaves out what is done, ralph graph T-004 shows the part of one task.'
