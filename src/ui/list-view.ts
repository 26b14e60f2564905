import type { TaskState } from '../select/selection.ts'
import { whyNot } from '../select/why-not.ts'
import type { Facts, Tier } from '../task/model.ts'
import { BLANK, dim, line, strong, type Block, type Cell, type Line, type Row, coloured } from './block.ts'
import { firstSentence } from './reason-text.ts'
import { signOf } from './task-lines.ts'

/** What is told of a task in the list. */
type ListedTask = Facts<'title' | 'milestone' | 'completed' | 'discipline'>

/** What `ralph list` shows. */
interface ListScreen<T extends ListedTask> {
  readonly states: readonly TaskState<T>[]
  /** With those that the filters leave out: what is told of a milestone is told of all of it. */
  readonly all: readonly TaskState<T>[]
  readonly folder: string
  readonly tierOf: (task: T) => Tier
  /** The first line of what stands under Blocked; empty where the task is not held up. */
  readonly reasonOf: (task: T) => string
  /** The mark of the task's discipline; null where there is none. */
  readonly badgeOf: (task: T) => { readonly text: string; readonly color: string | null } | null
}

/** The tasks by milestone, each milestone with how far it is. */
export function listView<T extends ListedTask>(screen: ListScreen<T>): readonly Block[] {
  const { states, all, folder } = screen
  if (all.length === 0) return [line(`There are no tasks in ${folder} yet.`)]
  if (states.length === 0) return [line('No task matches.')]
  const groups = byMilestone(states)
  const isWhole = states.length === all.length
  const progress = isWhole ? groups : byMilestone(all)
  const counted = isWhole ? all : [...groups.keys()].flatMap((milestone) => progress.get(milestone) ?? [])
  const hasBadges = states.some(({ task }) => screen.badgeOf(task) !== null)
  const rows: Row[] = []
  for (const [milestone, members] of groups) {
    if (rows.length > 0) rows.push({ kind: 'spread', left: [], right: [] })
    if (groups.size > 1 || milestone !== null)
      rows.push(headRow(milestone, progress.get(milestone) ?? members))
    for (const state of members) rows.push(rowOf(state, screen, hasBadges))
  }
  return [
    { kind: 'table', rows, shrink: [2, hasBadges ? 5 : 4], indent: '  ' },
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
  return {
    kind: 'spread',
    left: [strong(milestone ?? 'No milestone')],
    right: [dim(`${done} of ${members.length} done  `), ...bar(done / members.length)],
  }
}

const BAR_COLUMNS = 10

/** How far something is, in ten signs; full only when it is. */
function bar(share: number): Line {
  const full = Math.floor(share * BAR_COLUMNS)
  return ['█'.repeat(full), dim('░'.repeat(BAR_COLUMNS - full))]
}

function rowOf<T extends ListedTask>(
  state: TaskState<T>,
  { tierOf, reasonOf, badgeOf }: ListScreen<T>,
  hasBadges: boolean,
): readonly Cell[] {
  const { task } = state
  const { text, color } = badgeOf(task) ?? { text: '', color: null }
  const badge = hasBadges ? [coloured(text, color)] : []
  // How much a task may take is nothing any more, once it is done.
  const tier = task.status === 'DONE' ? '' : dim(tierOf(task))
  return [signOf(state), task.id, task.title, ...badge, tier, dim(remark(state, reasonOf(task)))]
}

/** What there is to say of a task in a few words. */
function remark(state: TaskState<ListedTask>, blockedReason: string): string {
  const { task, waiting, eligible } = state
  if (task.status === 'DONE') return completedBrief(task)
  if (eligible) return 'eligible'
  const needs = waiting.flatMap((reason) => (reason.kind === 'dependency' ? [reason.id] : []))
  if (needs.length > 0 && needs.length === waiting.length) return `needs ${needs.join(', ')}`
  const others = waiting.filter((reason) => reason.kind !== 'dependency')
  return whyNot({ ...state, waiting: others }, firstSentence(blockedReason))[0] ?? ''
}

/** `2025-01-13 · 3m` of `2025-01-13 09:10 (3m duration)`; what is written otherwise stays as it is. */
function completedBrief({ completed }: ListedTask): string {
  const match = /^(\d{4}-\d\d-\d\d) [\d:]+ \((.+) duration\)$/.exec(completed ?? '')
  return match === null ? (completed ?? 'done') : `${match[1]} · ${match[2]}`
}

function doneIn(states: readonly TaskState<ListedTask>[]): number {
  return states.filter(({ task }) => task.status === 'DONE').length
}
