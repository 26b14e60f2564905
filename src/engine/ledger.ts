import { POLICIES } from './outcome.ts'
import type { Gate, GateResult } from '../base/nouns.ts'
import type { Task } from '../backlog/model.ts'
import type { KeptAttempt } from '../git/record.ts'

/** Until when an agent can do nothing; null if that is for the rest of the run. */
interface AgentLimit {
  readonly until: Date | null
  readonly reason: string
}

/** A task that is given up because its agent did nothing, and the last attempt at it. */
interface IdleEnd {
  readonly task: Task
  readonly reason: string
  readonly record: KeptAttempt
}

/** What a run has learned so far, passed from one attempt to the next. */
export class Ledger {
  readonly #records = new Map<string, KeptAttempt[]>()
  readonly #limits = new Map<string, AgentLimit>()
  readonly #runsLater = new Set<string>()
  /** Gates that failed on the untouched tree. */
  failedBefore: readonly GateResult[] = []
  /** Those that passed on it, with the number of their tests, if they say. */
  passedBefore: readonly GateResult[] = []
  #idleEnd: IdleEnd | null = null
  readonly #toBlock: IdleEnd[] = []
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

  /** The gates, of which those that were green before the first task have to stay so. */
  inForce(gates: readonly Gate[]): readonly Gate[] {
    return keptGreen(
      gates,
      this.passedBefore.map(({ gate }) => gate.name),
    )
  }

  /** Notes that the agent is limited until then, and why. */
  limit(agent: string, limit: AgentLimit): void {
    this.#limits.set(agent, limit)
  }

  /** Until when, as far as known, the agent is limited, and why; a past time if it is not. */
  limitOf(agent: string): AgentLimit {
    return this.#limits.get(agent) ?? { until: new Date(0), reason: '' }
  }

  /** The task that ralph gave up just before, if its agent had done nothing: the next task shows whose fault that is. */
  get idleEnd(): IdleEnd | null {
    return this.#idleEnd
  }

  /** Notes how the next task went: with another end than before, the task before is to be blocked after all. */
  setIdleEnd(next: IdleEnd | null): void {
    if (this.#idleEnd && this.#idleEnd.task.id !== next?.task.id) this.#toBlock.push(this.#idleEnd)
    this.#idleEnd = next
  }

  /** Notes that the agent can do nothing in this run. The task that it left undone is open to others. */
  useless(agent: string, reason: string): void {
    this.limit(agent, { until: null, reason })
    this.#idleEnd = null
  }

  /** The tasks that are given up, but not blocked yet. */
  get unblocked(): readonly IdleEnd[] {
    return [...this.#toBlock, ...(this.#idleEnd ? [this.#idleEnd] : [])]
  }

  /** The next task to block, which is none of these from now on. */
  nextToBlock(): IdleEnd | null {
    return this.#toBlock.shift() ?? null
  }

  /** Files that agents of this run have changed and that an agent may obey at its start. */
  get runsLater(): readonly string[] {
    return [...this.#runsLater]
  }

  addRunsLater(paths: readonly string[]): void {
    for (const path of paths) this.#runsLater.add(path)
  }
}

/** The gates, of which these are required where green was to stay green. */
export function keptGreen(gates: readonly Gate[], green: readonly string[]): readonly Gate[] {
  return gates.map((gate) => (gate.ifGreen && green.includes(gate.name) ? { ...gate, required: true } : gate))
}
