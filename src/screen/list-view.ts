import type { UnderWay } from '../backlog/json.ts'
import type { TaskState } from '../backlog/select/selection.ts'
import { whyNot } from '../backlog/select/why-not.ts'
import type { Facts, Tier } from '../backlog/model.ts'
import { strong, dim, line, spread, table, BLANK, coloured, type View, type Row, type Cell } from './block.ts'
import { bar, firstSentence, LIVE, signOf, underWayText } from './task-lines.ts'

/** The facts of a task in the list. */
type ListedTask = Facts<'title' | 'milestone' | 'completed' | 'discipline'>

/** How the tasks are described. */
interface Describing<T> {
  readonly tierOf: (task: T) => Tier
  /** The first line of the Blocked section; empty if the task is not blocked. */
  readonly reasonOf: (task: T) => string
  /** What a run works on now. */
  readonly underWay: ReadonlyMap<string, UnderWay>
  /** The mark of the task's discipline; null if there is none. */
  readonly badgeOf: (task: T) => { readonly text: string; readonly color: string | null } | null
}

/** The tasks by milestone, with the progress of each. */
export function listView<T extends ListedTask>({
  states,
  all,
  folder,
  ...describing
}: Describing<T> & {
  states: readonly TaskState<T>[]
  /** Includes tasks that the filters leave out: the progress of a milestone counts all of its tasks. */
  all: readonly TaskState<T>[]
  folder: string
}): View {
  if (all.length === 0) return [line(`There are no tasks in ${folder} yet.`)]
  if (states.length === 0) return [line('No task matches.')]
  const { badgeOf } = describing
  const groups = byMilestone(states)
  const progress = states.length === all.length ? groups : byMilestone(all)
  const counted = [...groups.keys()].flatMap((milestone) => progress.get(milestone) ?? [])
  const hasBadges = states.some(({ task }) => badgeOf(task) !== null)
  const rows: Row[] = []
  for (const [milestone, members] of groups) {
    if (rows.length > 0) rows.push(spread([]))
    if (groups.size > 1 || milestone !== null)
      rows.push(headRow(milestone, progress.get(milestone) ?? members))
    for (const state of members) rows.push(rowOf(state, describing, hasBadges))
  }
  return [
    ...table(rows, { shrink: [2, hasBadges ? 5 : 4] }),
    BLANK,
    line(dim(`${doneIn(counted)} of ${counted.length} done`)),
  ]
}

function byMilestone<T extends ListedTask>(
  states: readonly TaskState<T>[],
): Map<string | null, TaskState<T>[]> {
  const groups = new Map<string | null, TaskState<T>[]>()
  for (const state of states) {
    const members = groups.get(state.task.milestone)
    if (members) members.push(state)
    else groups.set(state.task.milestone, [state])
  }
  return groups
}

function headRow(milestone: string | null, members: readonly TaskState<ListedTask>[]): Row {
  const done = doneIn(members)
  return spread(
    [strong(milestone ?? 'No milestone')],
    [dim(`${done} of ${members.length} done  `), ...bar(done / members.length, 10)],
  )
}

function rowOf<T extends ListedTask>(
  state: TaskState<T>,
  { tierOf, reasonOf, badgeOf, underWay }: Describing<T>,
  hasBadges: boolean,
): readonly Cell[] {
  const { task } = state
  const { text, color } = badgeOf(task) ?? { text: '', color: null }
  const badge = hasBadges ? [coloured(text, color)] : []
  // The tier of a finished task does not matter any more.
  const tier = task.status === 'DONE' ? '' : dim(tierOf(task))
  const where = task.status === 'DONE' ? undefined : underWay.get(task.id)
  const [sign, about] = where ? [LIVE, underWayText(where)] : [signOf(state), remark(state, reasonOf(task))]
  return [sign, task.id, task.title, ...badge, tier, dim(about)]
}

/** A short remark on a task. */
function remark(state: TaskState<ListedTask>, blockedReason: string): string {
  const { task, waiting, eligible } = state
  if (task.status === 'DONE') return completedBrief(task)
  if (eligible) return 'eligible'
  const needs = waiting.flatMap((reason) => (reason.kind === 'dependency' ? [reason.id] : []))
  if (needs.length > 0 && needs.length === waiting.length) return `needs ${needs.join(', ')}`
  const others = waiting.filter((reason) => reason.kind !== 'dependency')
  return whyNot({ ...state, waiting: others }, firstSentence(blockedReason))[0] ?? ''
}

/** `2025-01-13 · 3m` for `2025-01-13 09:10 (3m duration)`; other texts stay unchanged. */
function completedBrief({ completed }: ListedTask): string {
  const match = /^(\d{4}-\d\d-\d\d) [\d:]+ \((.+) duration\)$/.exec(completed ?? '')
  return match === null ? (completed ?? 'done') : `${match[1]} · ${match[2]}`
}

function doneIn(states: readonly TaskState<ListedTask>[]): number {
  return states.filter(({ task }) => task.status === 'DONE').length
}
