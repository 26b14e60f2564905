import { select, type Selection } from '../select/selection.ts'
import { mayDecideTier, TIER_FACTS, type TierChoice, tierOf, tierOfFacts } from '../select/tier.ts'
import { blockedReason } from '../select/why-not.ts'
import { detached } from '../task/facts.ts'
import type { FactName, Facts, TaskHead } from '../task/model.ts'
import { readFacts, readTask } from '../task/read.ts'
import type { Place } from './project.ts'

/** A backlog decided on, and what an overview tells of its tasks. */
export interface Listing<T extends TaskHead> {
  readonly selection: Selection<T>
  readonly tierOf: (task: T) => TierChoice
}

/**
 * Reads of a backlog the facts that are listed, and decides on it. The texts of the tasks are never in memory together.
 * To tell a tier mostly takes what stands below the head: it is told of those that need one.
 */
export async function openListing<K extends FactName>(
  place: Place,
  listed: readonly K[],
  needsTier: (task: TaskHead) => boolean = () => true,
): Promise<Listing<Facts<K | (typeof TIER_FACTS)[number]>>> {
  const { tiers } = place.config
  const areProductsListed = new Set<FactName>(listed).has('produces')
  const ofWhole = new Map<TaskHead, TierChoice>()
  const { tasks } = await readFacts(
    place,
    {
      facts: [...listed, ...TIER_FACTS],
      isEnough: (task) => !areProductsListed && (task.complexity !== null || !needsTier(task)),
      isWanted: mayDecideTier(tiers),
    },
    (found, task) => ofWhole.set(found, tierOf(task, tiers)),
  )
  return { selection: select(tasks), tierOf: (task) => ofWhole.get(task) ?? tierOfFacts(task, tiers) }
}

/** The first line of what stands under Blocked, of each task that is held up. */
export async function blockedReasons(
  { root, vocabulary }: Place,
  tasks: readonly TaskHead[],
): Promise<(task: TaskHead) => string> {
  const reasons = new Map<TaskHead, string>()
  for (const task of tasks) {
    if (!task.held && task.status !== 'BLOCKED') continue
    reasons.set(task, detached(blockedReason(await readTask(root, task.file, vocabulary))))
  }
  return (task) => reasons.get(task) ?? ''
}
