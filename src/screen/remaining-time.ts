import type { RunStatus } from './run-status.ts'

/** How long a run will still take, in seconds: with even odds between these limits. */
export interface Remaining {
  readonly low: number
  readonly high: number
}

/** What the estimate is based on. */
export interface Pace {
  /** How many seconds each task took in this repository. */
  readonly durations: readonly number[]
  /** How many tasks the run may do. */
  readonly most: number
}

/** Fewer tasks are not enough for an estimate. */
const ENOUGH_TASKS = 5

/**
 * Estimates the rest of a run from the durations of tasks; null if too few are known, or if nothing is left. Long and
 * short tasks compensate each other, so the range grows with the square root of their number.
 */
export function remainingTime(status: RunStatus, { durations, most }: Pace, now: Date): Remaining | null {
  const { progress, jobs, completed, blocked, failed, held, atOnce } = status
  if (durations.length < ENOUGH_TASKS || status.ended || status.stopping) return null
  const tried = completed.length + blocked.length + failed.length
  const open = progress.tasks - progress.done - progress.blocked - failed.length - held.length
  const tasks = Math.min(open, most - tried)
  if (tasks <= 0) return null
  const mean = meanOf(durations)
  const spread = Math.sqrt(meanOf(durations.map((seconds) => (seconds - mean) ** 2)))
  // Subtracts the time that a running task has had; how much longer a slow one takes is unknown.
  const spent = jobs.map(({ since }) =>
    Math.min(mean / 2, (now.getTime() - new Date(since).getTime()) / 1000),
  )
  const expected = tasks * mean - spent.reduce((sum, seconds) => sum + Math.max(0, seconds), 0)
  const range = QUARTILE * spread * Math.sqrt(tasks + (tasks * tasks) / durations.length)
  const side = Math.min(atOnce, tasks)
  return { low: Math.max(0, expected - range) / side, high: (expected + range) / side }
}

/** Half of a normal distribution is within this many deviations of its mean. */
const QUARTILE = 0.6745

function meanOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length
}
