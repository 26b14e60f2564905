import { formatDuration } from '../base/time.ts'
import type { AgentEnd, AgentLimits, StreamEvent } from './port.ts'
import type { Usage } from '../base/nouns.ts'
import { amountsOf, formatAmount, formatCost } from '../base/usage.ts'

/** If an agent waits longer than this for its service, ralph ends it: ralph can use another agent in the meantime. */
const LONGEST_PAUSE_MS = 3 * 60_000

/**
 * Watches one run's limits: receives its events, and returns when and why the agent must be ended. It has no clock
 * and no timer of its own: `ms` counts from the start, and stands still while a laptop sleeps.
 */
export class Watch {
  readonly #limits: AgentLimits
  readonly #running = new Set<string>()
  #lastEvent = 0
  /** The agent's own wait for its service, if that was its last report. */
  #pause: { readonly reason: string; readonly until: number } | null = null

  constructor(limits: AgentLimits) {
    this.#limits = limits
  }

  /** Why an event ends the run; null if it does not. `now` is compared with an event's `until`. */
  see(event: StreamEvent, ms: number, now: Date): AgentEnd | null {
    this.#lastEvent = ms
    if (event.type === 'retrying') return this.#seePause(event, ms, now)
    if (event.type !== 'warning' && event.type !== 'usage') this.#pause = null
    if (event.type === 'tool' && event.status === 'running') this.#running.add(event.id)
    if (event.type === 'tool' && event.status !== 'running') this.#running.delete(event.id)
    return event.type === 'usage' ? this.#overLimit(event.usage) : null
  }

  /** Why the run must end now; null if it need not. */
  expired(ms: number): AgentEnd | null {
    const { seconds, stallSeconds } = this.#limits
    if (ms >= seconds * 1000) {
      const reason = `the time limit of ${formatDuration(seconds)} is over`
      return this.#pause ? this.#waits(this.#pause.reason) : { kind: 'timeout', reason }
    }
    if (ms < this.#stallsAt) return null
    if (this.#pause) return this.#waits(this.#pause.reason)
    return { kind: 'stalled', reason: `nothing was heard of the agent for ${formatDuration(stallSeconds)}` }
  }

  /** When to check next: not later than the agent could have stalled if its tools ended just now. */
  nextCheck(ms: number): number {
    const { seconds, stallSeconds } = this.#limits
    return Math.min(seconds * 1000, this.#stallsAt, ms + stallSeconds * 1000)
  }

  /** Never while a tool runs: a long test run is silent too. */
  get #stallsAt(): number {
    if (this.#running.size > 0) return Infinity
    return Math.max(this.#lastEvent, this.#pause?.until ?? 0) + this.#limits.stallSeconds * 1000
  }

  #seePause(event: Extract<StreamEvent, { type: 'retrying' }>, ms: number, now: Date): AgentEnd | null {
    const pause = event.until ? event.until.getTime() - now.getTime() : 0
    this.#pause = { reason: event.reason, until: ms + pause }
    const tooLong = pause > LONGEST_PAUSE_MS || ms + pause > this.#limits.seconds * 1000
    return tooLong ? { kind: 'rate-limited', reason: event.reason, until: event.until } : null
  }

  #waits(reason: string): AgentEnd {
    return { kind: 'rate-limited', reason: `the agent still waited for its service: ${reason}`, until: null }
  }

  #overLimit(usage: Usage): AgentEnd | null {
    const { turns, costUsd } = usage
    const { turns: maxTurns, budgetUsd, tokens: maxTokens } = this.#limits
    // The agent may end with its last turn: only one more is too many.
    if (turns !== null && turns > maxTurns) {
      return { kind: 'max-turns', reason: `the limit of ${maxTurns} turns is reached` }
    }
    const { tokens } = amountsOf(usage)
    if (maxTokens !== null && tokens !== null && tokens > maxTokens)
      return {
        kind: 'budget',
        reason: `what was left, ${formatAmount('tokens', maxTokens)}, is used up`,
        of: 'tokens',
      }
    return budgetUsd !== null && costUsd !== null && costUsd > budgetUsd ? budgetSpent(this.#limits) : null
  }
}

/** The end of an attempt that has used up its budget; null without a budget. */
export function budgetSpent({ budgetUsd }: AgentLimits): Extract<AgentEnd, { kind: 'budget' }> | null {
  if (budgetUsd === null) return null
  return { kind: 'budget', reason: `what was left of the budget, ${formatCost(budgetUsd)}, is spent` }
}
