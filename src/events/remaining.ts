import type { RunStatus } from './status.ts'

/** How long a run is still going to take, in seconds: as likely between these as not. */
export interface Remaining {
  readonly low: number
  readonly high: number
}

/** What a guess stands on. */
export interface Pace {
  /** How many seconds tasks took in this repository. */
  readonly durations: readonly number[]
  /** How many tasks the run may do. */
  readonly most: number
}

/** Of fewer tasks nothing can be said of the next. */
const ENOUGH_TASKS = 5

/**
 * What remains of a run, by how long tasks took here; null where too few are known, or nothing remains. Of many tasks the
 * long and the short make up for each other, so that the range grows with the root of their number.
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
  // Of a task at work what it has had is over; how much longer one takes that takes long already, nobody knows.
  const spent = jobs.map(({ since }) =>
    Math.min(mean / 2, (now.getTime() - new Date(since).getTime()) / 1000),
  )
  const expected = tasks * mean - spent.reduce((sum, seconds) => sum + Math.max(0, seconds), 0)
  const range = QUARTILE * spread * Math.sqrt(tasks + (tasks * tasks) / durations.length)
  const side = Math.min(atOnce, tasks)
  return { low: Math.max(0, expected - range) / side, high: (expected + range) / side }
}

/** Half of what is normally distributed lies within so many deviations of its mean. */
const QUARTILE = 0.6745

function meanOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length
}
