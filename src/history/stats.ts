import type { Usage } from '../events/usage.ts'
import type { KeptAttempt } from '../git/record.ts'
import type { CompletionRecord } from './completions.ts'
import { totalUsage } from '../events/usage.ts'

/** What tasks have taken, together. What no commit told is not in the sums, and null where none did. */
export interface Totals {
  readonly tasks: number
  /** Those of them that no gate has checked. */
  readonly unchecked: number
  /** Those of them that ralph did not complete: people did, as their files or commits say. */
  readonly notByRalph: number
  /** Attempts that led to a completion. */
  readonly attempts: number
  readonly seconds: number | null
  readonly usage: Usage
}

/** The totals of the tasks that have something in common. */
export interface StatsGroup extends Totals {
  readonly name: string
}

/** What tasks have taken: together, in groups, and for nothing. */
export interface Stats {
  readonly total: Totals
  readonly groups: readonly StatsGroup[]
  /** Attempts that are kept and led to nothing: what they took is in no completion. */
  readonly lost: { readonly attempts: number; readonly seconds: number; readonly usage: Usage }
}

/** Adds up completions, by what `nameOf` calls them, in the order in which the names come up; reverted ones count too, for they were paid for. */
export function statsOf(
  completions: readonly CompletionRecord[],
  attempts: readonly KeptAttempt[],
  nameOf: (completion: CompletionRecord) => string,
): Stats {
  const byName = new Map<string, CompletionRecord[]>()
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

/** A completion's numbers hold those of the attempts that led to it, back to the last time that ralph gave up. */
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
