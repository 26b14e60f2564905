import type { GateResult } from '../events/gate.ts'
import type { Refs } from '../git/refs.ts'
import type { AttemptRecord } from '../git/record.ts'
import type { Flight } from './flight.ts'
import type { RunOptions, RunPorts } from './ports.ts'

/** One run while it goes on: what it was asked, what it may touch, and what it knows by now. */
export interface Run {
  readonly options: RunOptions
  readonly ports: RunPorts
  readonly flight: Flight
  /** Every attempt that is kept, by task; it grows as the run keeps more. */
  readonly attempts: Map<string, AttemptRecord[]>
  /** Agents that wait for a limit to end, by name. */
  readonly limitedUntil: Map<string, Date>
  /** Branches, tags, stashes and kept attempts, as they were when last looked at. */
  refs: Refs
  /** Gates that failed on the untouched tree. */
  failedBefore: readonly GateResult[]
  /** Files that gates and hooks themselves leave behind or change: no agent's work. */
  litter: ReadonlySet<string>
}

/** The attempts at a task, oldest first. */
export function attemptsAt(run: Run, id: string): readonly AttemptRecord[] {
  return run.attempts.get(id) ?? []
}

/** Those that count together: the ones since ralph last gave up on the task. */
export function seriesOf(records: readonly AttemptRecord[]): readonly AttemptRecord[] {
  const lastFinal = records.findLastIndex((record) => record.final)
  return records.slice(lastFinal + 1)
}
