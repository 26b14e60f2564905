import type { Usage } from '../base/nouns.ts'
import type { KeptAttempt } from '../git/record.ts'
import { type Outcome, POLICIES } from './outcome.ts'
import { amountsOf, formatAmount, totalUsage, type Amounts } from '../base/usage.ts'

/** What follows an attempt. */
export type Decision =
  | { readonly kind: 'complete' }
  | { readonly kind: 'retry'; readonly pauseSeconds: number }
  /**
   * The same attempt again, not counted: another agent at once, or this one later; null if it can do nothing more in this
   * run. `reason` says why.
   */
  | { readonly kind: 'wait'; readonly until: Date | null; readonly reason: string }
  /** No further attempt; `blocked` if the agent itself reported that it needs a person. */
  | { readonly kind: 'give-up'; readonly reason: string; readonly blocked: boolean }
  /** Somebody skipped the task: it stays TODO, and is left out of this run. */
  | { readonly kind: 'leave'; readonly reason: string }
  /** A person continues by hand, with what the agent has done so far. */
  | { readonly kind: 'hand-over' }
  | { readonly kind: 'stop'; readonly why: 'stopped' | 'budget'; readonly reason: string }

/** How an attempt ended. */
export interface Ended {
  readonly outcome: Outcome
  readonly usage: Usage
  /** Whether the agent did nothing: no tool was called, nothing was written, nothing has changed. */
  readonly idle: boolean
}

/** What a decision depends on, besides the end of the attempt. */
export interface Situation {
  /** The number of this attempt among those that count, and how many the task has. */
  readonly counted: number
  readonly most: number
  /** Earlier attempts that count together with this one, oldest first. */
  readonly series: readonly KeptAttempt[]
  /** What the task may use in all. */
  readonly taskLimit: Amounts
  /** What the run had left before the attempt. */
  readonly runLeft: Amounts
  /** Waits in a row so far. */
  readonly waits: number
  /** How often the agent has already waited for a limit whose end nobody names. */
  readonly endlessWaits: number
  /** How long a person is waited for. */
  readonly askSeconds: number
  readonly now: Date
}

const SAME_FAILURES = 3
/** After so many lost machines in a row, the task is not given to another one. */
const MOST_LOST = 3
const LONGEST_PAUSE_SECONDS = 60
/** After so many waits for a limit whose end nobody names, it is taken for one that only a person can lift. */
const MOST_ENDLESS_WAITS = { money: 1, endless: 3 }
/** Waits if no service names an end: the first, then twice as long each time, up to the longest. */
const LIMIT_WAITS = { firstSeconds: 60, longestSeconds: 1800 }
const NETWORK_WAITS = { firstSeconds: 10, longestSeconds: 300 }

/** Decides what follows an attempt, from the table of outcomes and the reasons to end early. */
export function decide(ended: Ended, situation: Situation): Decision {
  const { outcome } = ended
  switch (POLICIES[outcome.kind].next) {
    case 'complete':
      return { kind: 'complete' }
    case 'stop':
      return { kind: 'stop', why: 'stopped', reason: outcome.reason }
    case 'block':
      return { kind: 'give-up', reason: outcome.reason, blocked: true }
    case 'leave':
      return { kind: 'leave', reason: outcome.reason }
    case 'hand-over':
      return { kind: 'hand-over' }
    case 'again': {
      const before = situation.series.slice(1 - MOST_LOST)
      const isLast = before.length === MOST_LOST - 1 && before.every((record) => record.outcome === 'lost')
      if (isLast)
        return { kind: 'give-up', reason: `${MOST_LOST} times in a row: ${outcome.reason}`, blocked: false }
      return { kind: 'retry', pauseSeconds: 0 }
    }
    case 'unable':
      return { kind: 'wait', until: null, reason: outcome.reason }
    case 'wait':
      return { kind: 'wait', ...(enoughWaiting(outcome, situation) ?? waitAfter(outcome, situation)) }
    case 'retry': {
      if (outcome.hopeless === 'agent') return { kind: 'wait', until: null, reason: outcome.reason }
      if (outcome.hopeless === 'task') return { kind: 'give-up', reason: outcome.reason, blocked: true }
      if (outcome.hopeless === 'budget') return withoutMore(ended, 'usd', situation)
      if (outcome.hopeless === 'tokens') return withoutMore(ended, 'tokens', situation)
      const reason = reasonToGiveUp(ended, situation)
      if (reason !== null) return { kind: 'give-up', reason, blocked: false }
      return { kind: 'retry', pauseSeconds: Math.min(2 ** (situation.counted - 1), LONGEST_PAUSE_SECONDS) }
    }
  }
}

/** Ends at once, as an amount is used up: the task's, or the run's. */
function withoutMore(
  { outcome: { reason }, usage }: Ended,
  kind: keyof Amounts,
  situation: Situation,
): Decision {
  return isTasksLimit(kind, situation)
    ? { kind: 'give-up', reason: overTasksLimit(usage, situation) ?? reason, blocked: false }
    : { kind: 'stop', why: 'budget', reason }
}

/** Whether the task reaches its own limit before the limit of the run. */
function isTasksLimit(kind: keyof Amounts, { series, taskLimit, runLeft }: Situation): boolean {
  const limit = taskLimit[kind]
  const left = runLeft[kind]
  return limit !== null && (left === null || limit - (usedIn(series)[kind] ?? 0) <= left)
}

const KINDS = ['usd', 'tokens'] as const

/** What these attempts have used, as far as it is known. */
export function usedIn(series: readonly KeptAttempt[]): Amounts {
  return amountsOf(totalUsage(series.map(({ usage }) => usage)))
}

function reasonToGiveUp(ended: Ended, situation: Situation): string | null {
  const { outcome } = ended
  const counted = situation.series.filter((record) => POLICIES[record.outcome].counts)
  const last = counted.at(-1)
  if (situation.counted >= situation.most) return `${attempts(situation.most)}: ${outcome.reason}`
  const same = counted.slice(1 - SAME_FAILURES).filter((record) => record.fingerprint === outcome.fingerprint)
  if (same.length === SAME_FAILURES - 1) return `the same failure three times: ${outcome.reason}`
  if (last?.idle && ended.idle) return `twice the agent ended without doing anything: ${outcome.reason}`
  const spent = overTasksLimit(ended.usage, situation)
  return spent === null ? null : `${spent}: ${outcome.reason}`
}

/** What the task has used and its limit, as text; null while no limit is reached. */
function overTasksLimit(usage: Usage, { series, taskLimit }: Situation): string | null {
  const used = amountsOf(totalUsage([...series.map((record) => record.usage), usage]))
  return overLimit('the task', used, taskLimit)
}

/** What somebody has used and may use, as text; null while no limit is reached. */
export function overLimit(who: string, used: Amounts, limit: Amounts): string | null {
  const over = KINDS.find((kind) => limit[kind] !== null && (used[kind] ?? 0) >= limit[kind])
  if (over === undefined) return null
  const [spent, most] = [used[over] ?? 0, limit[over]!].map((amount) => formatAmount(over, amount))
  return over === 'usd'
    ? `${who} has cost ${spent}, its limit is ${most}`
    : `${who} has used ${spent}, its limit is ${most}`
}

function attempts(count: number): string {
  return count === 1 ? 'one attempt, and no more' : `${count} attempts`
}

/** The end of an agent for which it is no use to wait any longer; null if waiting may help. */
function enoughWaiting(
  { reason, hopeless }: Outcome,
  { waits, endlessWaits, askSeconds }: Situation,
): { readonly until: null; readonly reason: string } | null {
  switch (hopeless) {
    case 'money':
    case 'endless':
      return endlessWaits < MOST_ENDLESS_WAITS[hopeless]
        ? null
        : { until: null, reason: `waiting does not help, so it seems to be about money: ${reason}` }
    case 'person':
      return secondsWaited(waits, NETWORK_WAITS) < askSeconds ? null : { until: null, reason }
    default:
      return null
  }
}

/**
 * Until when to wait, and why: until the time that the service named; if it named none, or one that has passed, as long
 * as the table says. After a wait that did not help, never shorter than that wait.
 */
function waitAfter(
  { kind, reason, until }: Outcome,
  { now, waits }: Situation,
): { readonly until: Date; readonly reason: string } {
  const steps = kind === 'no-network' ? NETWORK_WAITS : LIMIT_WAITS
  const least = waits === 0 ? now : later(now, waits - 1, steps)
  if (until !== null && until > now && until >= least)
    return { until, reason: 'the service lets the agent do no more until then' }
  const again = until !== null && until > now ? least : later(now, waits, steps)
  return { until: again, reason: `then the agent is asked again: ${reason}` }
}

function later(now: Date, waits: number, steps: typeof LIMIT_WAITS): Date {
  return new Date(now.getTime() + waitSeconds(waits, steps) * 1000)
}

/** How long the next wait is after so many. */
function waitSeconds(waits: number, { firstSeconds, longestSeconds }: typeof LIMIT_WAITS): number {
  return Math.min(firstSeconds * 2 ** waits, longestSeconds)
}

function secondsWaited(waits: number, steps: typeof LIMIT_WAITS): number {
  return Array.from({ length: waits }, (_, index) => waitSeconds(index, steps)).reduce((a, b) => a + b, 0)
}
