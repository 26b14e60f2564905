import type { Emitted, RunEvent } from '../../src/engine/events/event.ts'
import type { BoardTask } from '../../src/screen/full/board.ts'
import { attemptStarted, recordedRun, taskStarted } from '../ui/recorded.ts'

/** When the run of these tests began. */
export const BEGAN = Date.UTC(2025, 0, 15, 14, 0)

const shop: readonly (readonly [id: string, title: string, milestone: string, rest: Partial<BoardTask>])[] = [
  ['T-001', 'Say how to work', '1 — Basket', { status: 'DONE' }],
  ['T-002', 'Add the cart', '1 — Basket', { status: 'DONE' }],
  ['T-004', 'Add the login form', '1 — Basket', {}],
  ['T-006', 'Payments', '1 — Basket', {}],
  ['T-007', 'Exchange rates 為替', '2 — Money', {}],
  ['T-005', 'Password reset', '2 — Money', { waits: 'T-004' }],
  ['T-008', 'Audit log', '2 — Money', { waits: 'T-004 +1' }],
]

/** The tasks of the shop, as their files say. */
export const TASKS: readonly BoardTask[] = shop.map(([id, title, milestone, rest]) => ({
  id,
  title,
  milestone,
  file: `docs/tasks/${id}.md`,
  status: 'TODO',
  waits: '',
  ...rest,
}))

/** Events, each so many seconds after the run began. */
export function timed(events: readonly (readonly [second: number, event: Emitted])[]): readonly RunEvent[] {
  return events.map(([second, event]) => ({ at: new Date(BEGAN + second * 1000).toISOString(), ...event }))
}

/** An attempt at a task begins. */
export function attempt(id: string, second: number, counted = 1): readonly (readonly [number, Emitted])[] {
  const { title = id } = TASKS.find((task) => task.id === id) ?? {}
  const log = `.ralph/logs/${id}-${counted}.log`
  const begun = attemptStarted(id, counted, { model: 'sonnet', log })
  return [...(counted > 1 ? [] : [[second, taskStarted(id, title)] as const]), [second, begun]]
}

/** A run of two jobs in the middle: an attempt that failed, gates under way, a question, work that is held. */
export const TWO_JOBS = recordedRun('two-jobs', BEGAN)

/** A run that is over. */
export const ENDED = recordedRun('ended', BEGAN)
