import { select, type Selection } from '../select/selection.ts'
import { mayDecideTier, TIER_FACTS, type TierChoice, tierOf, tierOfFacts } from '../select/tier.ts'
import { blockedReason } from '../select/why-not.ts'
import { detached } from '../task/facts.ts'
import type { FactName, Facts, TaskHead } from '../task/model.ts'
import { readFacts } from '../task/read.ts'
import type { Place } from './project.ts'

/** A backlog decided on, and what an overview tells of its tasks. */
export interface Listing<T extends TaskHead> {
  readonly selection: Selection<T>
  readonly tierOf: (task: T) => TierChoice
  /** The first line of what stands under Blocked; empty where the task is not held up. */
  readonly reasonOf: (task: T) => string
}

/** Reads of a backlog the facts that are listed, and decides on it. The texts of the tasks are never in memory together. */
export async function openListing<K extends FactName>(
  place: Place,
  facts: readonly K[],
): Promise<Listing<Facts<K>>> {
  const { tiers } = place.config
  const asked = { facts: [...facts, ...TIER_FACTS], isWanted: mayDecideTier(tiers) }
  const choices = new Map<TaskHead, TierChoice>()
  const reasons = new Map<TaskHead, string>()
  const { tasks } = await readFacts(place, asked, (found, task) => {
    choices.set(found, task ? tierOf(task, tiers) : tierOfFacts(found, tiers))
    if (task?.held || task?.status === 'BLOCKED') reasons.set(found, detached(blockedReason(task)))
  })
  return {
    selection: select(tasks),
    tierOf: (task) => choices.get(task)!,
    reasonOf: (task) => reasons.get(task) ?? '',
  }
}
