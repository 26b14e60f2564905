import { POLICIES } from './outcome.ts'
import type { GateResult } from '../base/nouns.ts'
import type { KeptAttempt } from '../git/record.ts'

/** What a run has learned so far, passed from one attempt to the next. */
export class Ledger {
  readonly #records = new Map<string, KeptAttempt[]>()
  readonly #limits = new Map<string, { readonly until: Date; readonly reason: string }>()
  readonly #runsLater = new Set<string>()
  /** Gates that failed on the untouched tree. */
  failedBefore: readonly GateResult[] = []
  /** The last attempt at the task that ralph gave up just before, if its agent had ended at once without a change. */
  idleEnd: KeptAttempt | null = null
  /** How many tasks the agents of this run have added. */
  addedTasks = 0

  constructor(records: readonly KeptAttempt[]) {
    for (const record of records) this.#records.set(record.task, [...this.attemptsAt(record.task), record])
  }

  /** The kept attempts at a task, oldest first. */
  attemptsAt(task: string): readonly KeptAttempt[] {
    return this.#records.get(task) ?? []
  }

  /** The kept attempt with that number; null if there is none. */
  attemptAt(task: string, number: number): KeptAttempt | null {
    return this.attemptsAt(task).find((record) => record.number === number) ?? null
  }

  /** The attempts that count together: those since ralph last gave up on the task. */
  seriesAt(task: string): readonly KeptAttempt[] {
    const records = this.attemptsAt(task)
    return records.slice(records.findLastIndex((record) => record.final) + 1)
  }

  /** The number of the next attempt among those that count. */
  nextCountedAt(task: string): number {
    return this.seriesAt(task).filter((record) => POLICIES[record.outcome].counts).length + 1
  }

  /** The series that has just ended: its last attempt is final, so `seriesAt` would be empty. */
  endedSeriesAt(task: string): readonly KeptAttempt[] {
    const records = this.attemptsAt(task)
    return records.slice(records.slice(0, -1).findLastIndex((record) => record.final) + 1)
  }

  /** Adds a kept attempt, in place of an earlier record of the same one. */
  keep(record: KeptAttempt): void {
    const others = this.attemptsAt(record.task).filter(({ number }) => number !== record.number)
    this.#records.set(record.task, [...others, record])
  }

  /** Notes that the agent is limited until then, and why. */
  limit(agent: string, limit: { readonly until: Date; readonly reason: string }): void {
    this.#limits.set(agent, limit)
  }

  /** Until when, as far as known, the agent is limited, and why; a past time if it is not. */
  limitOf(agent: string): { readonly until: Date; readonly reason: string } {
    return this.#limits.get(agent) ?? { until: new Date(0), reason: '' }
  }

  /** Files that agents of this run have changed and that an agent may obey at its start. */
  get runsLater(): readonly string[] {
    return [...this.#runsLater]
  }

  addRunsLater(paths: readonly string[]): void {
    for (const path of paths) this.#runsLater.add(path)
  }
}
