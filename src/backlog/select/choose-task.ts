import type { Selection } from './selection.ts'
import { blockedReason, whyNot } from './why-not.ts'
import type { Task } from '../model.ts'

/** Chooses from a backlog whose statuses are already decided, before anything has run. */
export function taskOrReason(
  selection: Selection,
  named: string | null,
  taken: ReadonlySet<string> = new Set(),
): Task | string {
  if (named === null) {
    const next = selection.eligible.find((task) => !taken.has(task.id))
    if (next) return next
    return selection.outcome === 'all-done'
      ? 'every task is done'
      : 'no task is eligible: ralph next --explain says why'
  }
  if (taken.has(named)) return `this run has worked on ${named} already`
  const state = selection.states.find(({ task }) => task.id === named)
  if (!state) return `there is no task ${named}`
  if (state.eligible) return state.task
  const status = state.task.status
  if (status === 'DONE' || status === 'BLOCKED') return `${named} is ${status}`
  return `${named} is not eligible: ${whyNot(state, blockedReason(state.task)).join('; ')}`
}
