import type { Usage } from '../base/nouns.ts'
import { ranGates, type KeptAttempt } from '../git/record.ts'
import type { CompletionRecord } from './completions.ts'
import { totalUsage } from '../base/usage.ts'

/** The sums for some tasks. */
export type Totals = Readonly<ReturnType<typeof totalsOf>>

/** The totals of tasks: of all, by group, and of lost attempts. */
export type Stats = Readonly<ReturnType<typeof statsOf>>

/** The totals of the tasks in one group. */
export type StatsGroup = Readonly<Stats['groups'][number]>

/** Sums up completions in groups by `nameOf`, in order of first appearance; reverted ones count too, as they were paid for. */
export function statsOf<T extends CompletionRecord>(
  completions: readonly T[],
  attempts: readonly KeptAttempt[],
  nameOf: (completion: T) => string,
) {
  const byName = new Map<string, T[]>()
  for (const completion of completions) {
    const name = nameOf(completion)
    byName.set(name, [...(byName.get(name) ?? []), completion])
  }
  const groups = [...byName].map(([name, members]) => ({ name, ...totalsOf(members) }))
  return { total: totalsOf(completions), groups, lost: lostOf(completions, attempts) }
}

/** What each gate cost, and how often it failed, as far as commits and attempts say. */
export function gateStats(
  completions: readonly Pick<CompletionRecord, 'ran' | 'flaky'>[],
  attempts: readonly Pick<KeptAttempt, 'gatesFailed' | 'flaky'>[],
) {
  const passed = completions.flatMap(({ ran }) => ran)
  const failed = attempts.flatMap(({ gatesFailed }) => ranGates(gatesFailed.join(', ') || null) ?? [])
  const flaky = [...completions, ...attempts].flatMap((one) => one.flaky)
  const names = [...new Set([...passed, ...failed].map(({ name }) => name))]
  const countOf = (all: readonly string[], name: string): number => all.filter((one) => one === name).length
  return names.map((name) => {
    const times = [...passed, ...failed].filter((one) => one.name === name).map(({ seconds }) => seconds)
    return {
      name,
      runs: times.length,
      medianSeconds: times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0,
      failures: countOf(
        failed.map((one) => one.name),
        name,
      ),
      flakes: countOf(flaky, name),
    }
  })
}

/** Missing values are left out of a sum; it is null if all are missing. */
function totalsOf(completions: readonly CompletionRecord[]) {
  const times = completions.flatMap(({ seconds }) => seconds ?? [])
  // A task that was reopened is one task: how it was completed last is how it is now.
  const last = [...new Map(completions.toReversed().map((one) => [one.id, one])).values()]
  return {
    tasks: last.length,
    /** Tasks that no gate has checked. */
    unchecked: last.filter(({ gates }) => gates?.length === 0).length,
    /** Tasks that people completed, according to their files or commits. */
    notByRalph: last.filter(({ byRalph }) => !byRalph).length,
    /** Attempts that led to a completion. */
    attempts: completions.reduce((sum, { attempts, byRalph }) => sum + (attempts ?? (byRalph ? 1 : 0)), 0),
    seconds: times.length === 0 ? null : times.reduce((sum, seconds) => sum + seconds, 0),
    usage: sumOf(completions),
  }
}

/**
 * Kept attempts that led to no completion: a completion's numbers include all attempts since the one before it, so those
 * that are in no sum yet were kept after the last.
 */
function lostOf(completions: readonly CompletionRecord[], attempts: readonly KeptAttempt[]) {
  const lastDone = new Map<string, number>()
  for (const { id, byRalph, committedAt } of completions)
    if (byRalph) lastDone.set(id, Math.max(committedAt, lastDone.get(id) ?? 0))
  const lost = attempts.filter(
    ({ task, outcome, keptAt }) => outcome !== 'done' && keptAt > (lastDone.get(task) ?? 0),
  )
  return {
    attempts: lost.length,
    seconds: lost.reduce((sum, { seconds }) => sum + seconds, 0),
    usage: sumOf(lost),
  }
}

function sumOf(records: readonly { readonly usage: Usage }[]): Usage {
  return totalUsage(records.map(({ usage }) => usage))
}
