import type { TaskHead } from '../task/model.ts'
import { overlapOf } from './overlap.ts'

/** The facts of a task that scheduling needs. */
export type Schedulable = Pick<TaskHead, 'id' | 'number'> & { readonly touches: readonly string[] }

/** A task under way: an agent works on it, its candidate waits to land, or it cannot land yet. */
export interface Busy<T extends Schedulable> {
  readonly task: T
  readonly phase: 'working' | 'ready' | 'held'
}

/** Everything that the decision depends on. */
export interface Standing<T extends Schedulable> {
  /** The eligible tasks by number; busy ones may be among them. */
  readonly eligible: readonly T[]
  readonly busy: readonly Busy<T>[]
  /** How many agents may work at once. */
  readonly jobs: number
  readonly overlap: 'wait' | 'ignore'
  /** How many more tasks may begin. */
  readonly mayBegin: number
  /** Tasks that have begun before and need another attempt: they are not counted again. */
  readonly again: ReadonlySet<string>
  /** Whether nothing more may begin; what is ready still lands. */
  readonly isEnding: boolean
  /** Whether nothing may land either, because somebody stops the run. */
  readonly isStopping: boolean
  readonly isLanding: boolean
}

/** A run that has not begun. */
export const IDLE = {
  busy: [],
  mayBegin: Infinity,
  again: new Set<string>(),
  isEnding: false,
  isStopping: false,
  isLanding: false,
} as const

/** Why an eligible task does not begin now. */
export type Wait =
  | { readonly kind: 'overlap'; readonly id: string; readonly path: string }
  /** All workspaces are in use, or the most tasks have begun. */
  | { readonly kind: 'jobs' }

/** What to do now. */
export interface Schedule<T extends Schedulable> {
  /** The tasks to begin, each in a free workspace. */
  readonly begin: readonly T[]
  readonly waiting: readonly { readonly task: T; readonly wait: Wait }[]
  /** The candidate to land next; null if none is ready, or one is landing. */
  readonly land: T | null
  /** Whether nothing is under way and nothing can begin. */
  readonly isOver: boolean
}

/**
 * Decides what a run with several jobs does next: the lowest-numbered eligible tasks begin that overlap with nothing
 * under way, and the candidate with the lowest number lands.
 */
export function schedule<T extends Schedulable>(standing: Standing<T>): Schedule<T> {
  const { eligible, busy, jobs, overlap, again, isEnding, isStopping, isLanding } = standing
  const ready = busy.filter(({ phase }) => phase === 'ready').map(({ task }) => task)
  const working = busy.filter(({ phase }) => phase === 'working').length
  // If landing is slower than the agents, more work would only wait and become outdated.
  const free = isEnding || isStopping || ready.length >= jobs ? 0 : jobs - working
  const ids = new Set(busy.map(({ task }) => task.id))
  const begin: T[] = []
  const waiting: { task: T; wait: Wait }[] = []
  let { mayBegin } = standing
  for (const task of eligible) {
    if (ids.has(task.id)) continue
    const others = [...busy.map((one) => one.task), ...begin]
    const inTheWay = overlap === 'wait' ? overlapWith(task, others) : null
    if (inTheWay) waiting.push({ task, wait: inTheWay })
    else if (begin.length < free && (again.has(task.id) || mayBegin-- > 0)) begin.push(task)
    else waiting.push({ task, wait: { kind: 'jobs' } })
  }
  const land = isLanding || isStopping ? null : (ready.toSorted((a, b) => a.number - b.number)[0] ?? null)
  const isOver = working + begin.length === 0 && !isLanding && land === null
  return { begin, waiting, land, isOver }
}

function overlapWith<T extends Schedulable>(task: T, others: readonly T[]): Wait | null {
  for (const other of others) {
    const path = overlapOf(task.touches, other.touches)
    if (path !== null) return { kind: 'overlap', id: other.id, path }
  }
  return null
}

/** The budget of one more job: an equal share, for each free workspace, of what is not reserved. */
export function shareOf(money: {
  readonly budget: number
  readonly spent: number
  readonly reserved: readonly number[]
  readonly jobs: number
}): number {
  const { budget, spent, reserved, jobs } = money
  const left = budget - spent - reserved.reduce((sum, one) => sum + one, 0)
  return Math.max(0, left / Math.max(1, jobs - reserved.length))
}
