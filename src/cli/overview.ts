import { select, type Selection } from '../select/selection.ts'
import { mayDecideTier, tierOf, tierOfFacts, type TierChoice } from '../select/tier.ts'
import { detached, factsOf } from '../task/facts.ts'
import type { TaskFacts, TaskHead } from '../task/model.ts'
import { readFacts } from '../task/read.ts'
import { blockedReason } from '../ui/reason-text.ts'
import type { Context } from './command.ts'
import { openPlace, type Place } from './project.ts'

/** A place with what is kept of its tasks, decided on. */
export interface Overview<T extends TaskHead> extends Place {
  readonly selection: Selection<T>
}

/** Makes what is kept of a task. The less that is the better: of ten thousand, all would be copied around in memory. */
export type Keep<T> = (facts: TaskFacts, choice: TierChoice, blockedReason: string) => T

/** Finds the place, and reads of its backlog what an overview tells. The texts of the tasks are never in memory together. */
export async function openOverview<T extends TaskHead>(
  context: Context,
  keep: Keep<T>,
): Promise<Overview<T>> {
  const place = await openPlace(context)
  const { tiers } = place.config
  const { tasks } = await readFacts<T>(place, {
    isWanted: mayDecideTier(tiers),
    keepFacts: (facts) => keep(facts, tierOfFacts(facts, tiers), ''),
    keep: (task) => {
      const reason = task.status === 'BLOCKED' || task.held ? detached(blockedReason(task)) : ''
      return keep(factsOf(task), tierOf(task, tiers), reason)
    },
  })
  return { ...place, selection: select(tasks) }
}
