import { counted } from '../base/text.ts'
import { formatDuration } from '../base/time.ts'
import type { Selection, TaskState } from '../backlog/select/selection.ts'
import type { Facts, TaskHead } from '../backlog/model.ts'
import {
  strong,
  dim,
  accent,
  good,
  bad,
  spread,
  table,
  type Block,
  type Line,
  type Piece,
  type Cell,
} from './block.ts'
import type { Explanation } from './reason-text.ts'

/** The first line of a task that is shown in full. */
export function titleLine(task: Facts<'title' | 'milestone'>): Block {
  const right: Line = task.milestone ? [dim(task.milestone)] : []
  const title: Line = task.title === '' ? [] : ['  ', strong(task.title)]
  return spread([accent(task.id), ...title], right)
}

/** The label at the start of a line below the title. */
export function label(word: string): Line {
  return ['  ', dim(word.padEnd(9))]
}

/** A labelled list of words, wrapped below each other; nothing if it is empty. */
export function named(word: string, words: readonly Line[], gap: string): readonly Block[] {
  return words.length === 0 ? [] : [{ kind: 'hang', head: label(word), words, gap }]
}

export function commaSeparated(words: readonly string[]): readonly Line[] {
  return words.map((word, index) => [index < words.length - 1 ? `${word},` : word])
}

/** A task's needs, each with the sign of its state. */
export function dependenciesOf(task: Facts<'depends'>, selection: Selection<TaskHead>): readonly Line[] {
  if (task.depends.length === 0) return []
  const numbers = new Set(task.needs)
  const states = new Map<number, TaskState<TaskHead>>()
  for (const state of selection.states) {
    if (numbers.has(state.task.number)) states.set(state.task.number, state)
  }
  return task.depends.map(({ id, number }) => {
    const state = states.get(number)
    return state ? [state.task.id, ' ', signOf(state)] : [id, ' ', dim('does not exist')]
  })
}

/** The tasks that become eligible after a task is done; nothing if there are none. */
export function thenLines(unblocked: readonly TaskHead[]): readonly Block[] {
  if (unblocked.length === 0) return []
  const verb = unblocked.length === 1 ? 'becomes' : 'become'
  return named('then', [...commaSeparated(unblocked.map(({ id }) => id)), [verb], ['eligible']], ' ')
}

/** The state of a task, as a sign that is readable without colour. */
export type StandingText = 'done' | 'eligible' | 'waiting' | 'blocked' | 'unclear'

/** The sign of each state. */
export const SIGNS = {
  done: good('✓'),
  eligible: accent('▸'),
  waiting: dim('·'),
  blocked: bad('■'),
  unclear: bad('?'),
} satisfies Record<StandingText, Piece>

export function signOf(state: TaskState<TaskHead>): Piece {
  return SIGNS[standingOf(state)]
}

/** The number of tasks in each state. */
export function countByStanding(
  states: readonly TaskState<TaskHead>[],
): Readonly<Record<StandingText, number>> {
  const counts = { done: 0, eligible: 0, waiting: 0, blocked: 0, unclear: 0 }
  for (const state of states) counts[standingOf(state)]++
  return counts
}

export function standingOf({ task, eligible, waiting }: TaskState<TaskHead>): StandingText {
  if (task.status === 'DONE') return 'done'
  if (task.status === 'BLOCKED') return 'blocked'
  if (eligible) return 'eligible'
  if (task.status === null) return 'unclear'
  if (waiting.some((reason) => reason.kind === 'blocked-section')) return 'blocked'
  return waiting.some((reason) => reason.kind === 'invalid' || reason.kind === 'duplicate')
    ? 'unclear'
    : 'waiting'
}

/** A bar for a share of tasks; full only for all of them. */
export function bar(share: number, columns: number): Line {
  const full = Math.floor(share * columns)
  return ['█'.repeat(full), dim('░'.repeat(columns - full))]
}

/** A task's limits in words: `75 turns, 15 min`. */
export function limitsText(maxTurns: number, timeoutSeconds: number): string {
  return `${counted(maxTurns, 'turn')}, ${timeLimitText(timeoutSeconds)}`
}

/** A time limit in words: `15 min`. */
export function timeLimitText(seconds: number): string {
  return seconds % 60 === 0 && seconds < 3600 ? `${seconds / 60} min` : formatDuration(seconds)
}

/** A task that waits, and why. */
export interface WaitingTask {
  readonly id: string
  readonly title: string
  readonly reasons: readonly Explanation[]
}

/** Why each of these tasks waits: one row for each reason, with the task's name on the first. */
export function waitingRows(tasks: readonly WaitingTask[]): Block {
  const rows = tasks.flatMap(({ id, title, reasons }) =>
    reasons.map(({ why, where }, index): readonly Cell[] => {
      return [index === 0 ? id : '', index === 0 ? title : '', [why, '  ', dim(where)]]
    }),
  )
  return table(rows, { shrink: [1], wrap: 2 })
}
