import type { Usage } from '../events/usage.ts'
import { formatDuration } from '../base/duration.ts'
import type { KeptAttempt } from './attempts.ts'
import { composeMessage, trailerValue, trailerValues } from './trailers.ts'
import type { Trailer } from './trailers.ts'
import { OUTCOMES } from '../events/outcome.ts'
import type { OutcomeKind } from '../events/outcome.ts'
import { formatCost, formatTokens, parseCost, parseTokens, secondsIn } from '../events/usage.ts'

/** What is told of an attempt by the commit that keeps it. */
export interface AttemptFacts {
  readonly task: string
  readonly number: number
  readonly outcome: OutcomeKind
  readonly reason: string
  readonly detail: string
  readonly fingerprint: string
  /** The commit that it began from. */
  readonly base: string
  /** Which of the task's tries it was, and how many there are. */
  readonly try: number
  readonly tries: number
  /** Whether ralph gave up with it: the next attempt begins to count anew. */
  readonly final: boolean
  /** Whether it ended at once without changing anything. */
  readonly idle: boolean
  readonly agent: string
  readonly model: string | null
  readonly tier: string
  readonly usage: Usage
  readonly seconds: number
  readonly log: string | null
  /** What the agent did that is not its to do, and that was taken back. */
  readonly undone: readonly string[]
  /** Paths that differ from the base, not more than a person would read. */
  readonly changed: readonly string[]
}

/** An attempt as it is kept. */
export interface AttemptRecord extends AttemptFacts {
  readonly ref: string
  readonly commit: string
  readonly tree: string
  /** Seconds since 1970. */
  readonly keptAt: number
}

const MOST_CHANGED = 50
const LONGEST_REASON = 500

/** The message of the commit that keeps an attempt. */
export function attemptMessage(facts: AttemptFacts): string {
  const trailers: [string, string | null][] = [
    ['Task', facts.task],
    ['Attempt', String(facts.number)],
    ['Outcome', facts.outcome],
    ['Reason', facts.reason.slice(0, LONGEST_REASON)],
    ['Failure', facts.fingerprint],
    ['Base', facts.base],
    ['Try', `${facts.try}/${facts.tries}`],
    ['Final', facts.final ? 'yes' : null],
    ['Idle', facts.idle ? 'yes' : null],
    ['Agent', facts.agent],
    ['Model', facts.model],
    ['Tier', facts.tier],
    ['Turns', facts.usage.turns === null ? null : String(facts.usage.turns)],
    ['Duration', formatDuration(facts.seconds)],
    ['Tokens', formatTokens(facts.usage)],
    ['Cost', facts.usage.costUsd === null ? null : formatCost(facts.usage.costUsd)],
    ['Log', facts.log],
    ...facts.undone.map((what): [string, string] => ['Undone', what]),
    ...facts.changed.slice(0, MOST_CHANGED).map((path): [string, string] => ['Changed', path]),
  ]
  return composeMessage({
    subject: `${facts.task}: attempt ${facts.number}: ${facts.outcome}`,
    body: [facts.reason, facts.detail].filter(Boolean).join('\n\n'),
    trailers: given(trailers),
  })
}

/** Reads such a message; null where it is none, or of a kind that this version does not know. */
export function attemptRecord({ task, number, ref, entry }: KeptAttempt): AttemptRecord | null {
  const value = (key: string): string | null => trailerValue(entry.trailers, key)
  const outcome = OUTCOMES.find((kind) => kind === value('Outcome'))
  if (!outcome) return null
  const [tried = 0, tries = 0] = (value('Try') ?? '').split('/').map(Number)
  const reason = value('Reason') ?? ''
  return {
    task,
    number,
    ref,
    commit: entry.hash,
    tree: entry.tree,
    keptAt: entry.committedAt,
    outcome,
    reason,
    detail: entry.body.slice(entry.body.startsWith(reason) ? reason.length : 0).trim(),
    fingerprint: value('Failure') ?? '',
    base: value('Base') ?? '',
    try: tried,
    tries,
    final: value('Final') === 'yes',
    idle: value('Idle') === 'yes',
    agent: value('Agent') ?? 'unknown',
    model: value('Model'),
    tier: value('Tier') ?? '',
    usage: {
      turns: value('Turns') === null ? null : Number(value('Turns')),
      ...parseTokens(value('Tokens')),
      costUsd: parseCost(value('Cost')),
    },
    seconds: secondsIn(value('Duration')) ?? 0,
    log: value('Log'),
    undone: trailerValues(entry.trailers, 'Undone'),
    changed: trailerValues(entry.trailers, 'Changed'),
  }
}

/** Trailers of what is known. */
export function given(pairs: readonly (readonly [string, string | null])[]): readonly Trailer[] {
  return pairs.flatMap(([key, value]) => (value === null || value === '' ? [] : [{ key, value }]))
}
