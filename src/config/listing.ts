import { select, type Selection } from '../backlog/select/selection.ts'
import {
  mayDecideTier,
  TIER_FACTS,
  type TierChoice,
  tierOf,
  tierOfFacts,
  type TierTable,
} from '../backlog/select/tier.ts'
import { blockedReason } from '../backlog/select/why-not.ts'
import { detached } from '../backlog/facts.ts'
import type { FactName, Facts, Task, TaskHead } from '../backlog/model.ts'
import { readFacts, readTask, readTaskFacts } from '../backlog/read.ts'
import type { FactRequest } from '../backlog/head-reader.ts'
import type { Place } from './project.ts'

type TierFact = (typeof TIER_FACTS)[number]

/** A backlog with its tasks' states, and what an overview shows of them. */
export interface Listing<T extends TaskHead> {
  readonly selection: Selection<T>
  readonly tierOf: (task: T) => TierChoice
}

/**
 * Reads the listed facts of a backlog, and decides its tasks' states. The tasks' whole texts are never in memory together.
 * Tiers are worked out only for tasks that need one: usually that takes the text below the head.
 */
export async function openListing<K extends FactName>(
  place: Place,
  facts: readonly K[],
  needsTier: (task: TaskHead) => boolean = () => true,
): Promise<Listing<Facts<K | TierFact>>> {
  const { request, see, tierOf } = tierReading(place.config.tiers, facts, needsTier)
  const { tasks } = await readFacts(place, request, see)
  return { selection: select(tasks), tierOf }
}

/** Reads the facts of one task, and its tier. */
export async function openTask<K extends FactName>(
  place: Place,
  { file }: TaskHead,
  facts: readonly K[],
): Promise<{ readonly task: Facts<K | TierFact>; readonly choice: TierChoice }> {
  const { request, see, tierOf } = tierReading(place.config.tiers, facts, () => true)
  const task = await readTaskFacts(place, file, request, see)
  return { task, choice: tierOf(task) }
}

interface TierReading<T extends TaskHead, K extends FactName> {
  readonly request: FactRequest<K>
  readonly see: (facts: T, task: Task) => void
  readonly tierOf: (task: T) => TierChoice
}

/** Reads only as much of a task as its tier needs, besides some facts. */
function tierReading<K extends FactName>(
  tiers: TierTable,
  facts: readonly K[],
  needsTier: (task: TaskHead) => boolean,
): TierReading<Facts<K | TierFact>, K | TierFact> {
  const asksProducts = new Set<FactName>(facts).has('produces')
  const ofWhole = new Map<TaskHead, TierChoice>()
  return {
    request: {
      facts: [...facts, ...TIER_FACTS],
      isEnough: (task) => !asksProducts && (task.complexity !== null || !needsTier(task)),
      isWanted: mayDecideTier(tiers),
    },
    see: (found, task) => ofWhole.set(found, tierOf(task, tiers)),
    tierOf: (task) => ofWhole.get(task) ?? tierOfFacts(task, tiers),
  }
}

/** The first line below Blocked, for each blocked task. */
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
