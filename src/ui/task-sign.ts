import type { TaskState } from '../select/selection.ts'
import type { TaskHead } from '../task/model.ts'
import { accent, bad, dim, good, type Piece } from './block.ts'

/** Where a task stands, in one sign that also reads without colour. */
export type Standing = 'done' | 'eligible' | 'waiting' | 'blocked' | 'unclear'

const SIGNS = {
  done: good('✓'),
  eligible: accent('▸'),
  waiting: dim('·'),
  blocked: bad('■'),
  unclear: bad('?'),
} as const satisfies Record<Standing, Piece>

export function signOf(state: TaskState<TaskHead>): Piece {
  return SIGNS[standingOf(state)]
}

/** How many of some tasks stand each way. */
export function countByStanding(states: readonly TaskState<TaskHead>[]): Readonly<Record<Standing, number>> {
  const counts = { done: 0, eligible: 0, waiting: 0, blocked: 0, unclear: 0 }
  for (const state of states) counts[standingOf(state)]++
  return counts
}

export function standingOf({ task, eligible, waiting }: TaskState<TaskHead>): Standing {
  if (task.status === 'DONE') return 'done'
  if (task.status === 'BLOCKED') return 'blocked'
  if (eligible) return 'eligible'
  if (task.status === null) return 'unclear'
  if (waiting.some((reason) => reason.kind === 'blocked-section')) return 'blocked'
  return waiting.some((reason) => reason.kind === 'invalid' || reason.kind === 'duplicate')
    ? 'unclear'
    : 'waiting'
}
