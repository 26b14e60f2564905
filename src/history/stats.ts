import type { Usage } from '../base/nouns.ts'
import type { KeptAttempt } from '../git/record.ts'
import type { CompletionRecord } from './completions.ts'
import { totalUsage } from '../base/usage.ts'

/** The sums for some tasks. Missing values are left out of a sum; it is null if all are missing. */
export interface Totals {
  readonly tasks: number
  /** Tasks that no gate has checked. */
  readonly unchecked: number
  /** Tasks that people completed, according to their files or commits. */
  readonly notByRalph: number
  /** Attempts that led to a completion. */
  readonly attempts: number
  readonly seconds: number | null
  readonly usage: Usage
}

/** The totals of the tasks in one group. */
export interface StatsGroup extends Totals {
  readonly name: string
}

/** The totals of tasks: of all, by group, and of lost attempts. */
export interface Stats {
  readonly total: Totals
  readonly groups: readonly StatsGroup[]
  /** Kept attempts that led to no completion, whose numbers are in no other sum. */
  readonly lost: { readonly attempts: number; readonly seconds: number; readonly usage: Usage }
}

/** Sums up completions in groups by `nameOf`, in order of first appearance; reverted ones count too, as they were paid for. */
export function statsOf<T extends CompletionRecord>(
  completions: readonly T[],
  attempts: readonly KeptAttempt[],
  nameOf: (completion: T) => string,
): Stats {
  const byName = new Map<string, T[]>()
  for (const completion of completions) {
    const name = nameOf(completion)
    byName.set(name, [...(byName.get(name) ?? []), completion])
  }
  const groups = [...byName].map(([name, members]) => ({ name, ...totalsOf(members) }))
  return { total: totalsOf(completions), groups, lost: lostOf(completions, attempts) }
}

function totalsOf(completions: readonly CompletionRecord[]): Totals {
  const times = completions.flatMap(({ seconds }) => seconds ?? [])
  return {
    tasks: completions.length,
    unchecked: completions.filter(({ gates }) => gates?.length === 0).length,
    notByRalph: completions.filter(({ byRalph }) => !byRalph).length,
    attempts: completions.reduce((sum, { attempts, byRalph }) => sum + (attempts ?? (byRalph ? 1 : 0)), 0),
    seconds: times.length === 0 ? null : times.reduce((sum, seconds) => sum + seconds, 0),
    usage: sumOf(completions),
  }
}

/** A completion's numbers include the attempts that led to it, back to the last time that ralph gave up. */
function lostOf(completions: readonly CompletionRecord[], attempts: readonly KeptAttempt[]): Stats['lost'] {
  const done = new Set(completions.map(({ id }) => id))
  const lost = attempts.filter((attempt, i) => {
    const gaveUp = attempts.slice(i).some((later) => later.task === attempt.task && later.final)
    return attempt.outcome !== 'done' && (gaveUp || !done.has(attempt.task))
  })
  return {
    attempts: lost.length,
    seconds: lost.reduce((sum, { seconds }) => sum + seconds, 0),
    usage: sumOf(lost),
  }
}

function sumOf(records: readonly { readonly usage: Usage }[]): Usage {
  return totalUsage(records.map(({ usage }) => usage))
}
