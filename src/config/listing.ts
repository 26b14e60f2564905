import { existsSync, watch } from 'node:fs'
import { basename, join } from 'node:path'
import { deepFolder } from '../base/folder.ts'
import { select } from '../backlog/select/selection.ts'
import { TIER_FACTS, type TierChoice, mayDecideTier, tierOf, tierOfFacts } from '../backlog/select/tier.ts'
import { blockedReason } from '../backlog/select/why-not.ts'
import { detached, readFacts, readTask, readTaskFacts } from '../backlog/read.ts'
import type { FactName, Facts, Task, TaskHead } from '../backlog/model.ts'
import type { Place } from './project.ts'
import { fileIn } from '../backlog/task-folders.ts'

/**
 * Reads the listed facts of a backlog, and decides its tasks' states. The tasks' whole texts are never in memory together.
 * Tiers are worked out only for tasks that need one: usually that takes the text below the head.
 */
export async function openListing<K extends FactName>(
  place: Place,
  facts: readonly K[],
  needsTier?: (task: TaskHead) => boolean,
) {
  const { request, see, tierOf } = tierReading(place, facts, needsTier)
  const { tasks } = await readFacts(place, request, see)
  return { selection: select(tasks), tierOf }
}

/** Reads the facts of one task, and its tier. */
export async function openTask<K extends FactName>(place: Place, { file }: TaskHead, facts: readonly K[]) {
  const { request, see, tierOf } = tierReading(place, facts)
  const task = await readTaskFacts(place, file, request, see)
  return { task, choice: tierOf(task) }
}

/** Reads only as much of a task as its tier needs, besides some facts. */
function tierReading<K extends FactName>(
  { config: { tiers } }: Place,
  facts: readonly K[],
  needsTier: (task: TaskHead) => boolean = () => true,
) {
  type Read = Facts<K | (typeof TIER_FACTS)[number]>
  const asksProducts = new Set<FactName>(facts).has('produces')
  const ofWhole = new Map<TaskHead, TierChoice>()
  return {
    request: {
      facts: [...facts, ...TIER_FACTS],
      isEnough: (task: Read) => !asksProducts && (task.complexity !== null || !needsTier(task)),
      isWanted: mayDecideTier(tiers),
    },
    see: (found: Read, task: Task) => ofWhole.set(found, tierOf(task, tiers)),
    tierOf: (task: Read) => ofWhole.get(task) ?? tierOfFacts(task, tiers),
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

/** One write of a file causes several events. */
const SETTLE_MS = 100

/** A backlog whose changed files are read again one by one, so that one change does not read ten thousand files. */
export function liveListing<K extends FactName>(place: Place, facts: readonly K[]) {
  const { root, folders } = place
  const tasks = new Map<string, Facts<K>>()
  const changed = new Set<string>()
  let isStale = true
  const readAll = async (): Promise<void> => {
    const backlog = await readFacts(place, { facts })
    tasks.clear()
    for (const task of backlog.tasks) tasks.set(task.file, task)
    isStale = false
  }
  const readOne = async (file: string): Promise<void> => {
    if (!folders.includes(file) || !existsSync(join(root, file))) tasks.delete(file)
    else tasks.set(file, await readTaskFacts(place, file, { facts }))
  }
  return {
    /** The tasks as their files are now, with their states. */
    async read() {
      if (isStale) await readAll()
      else for (const file of changed) await readOne(file)
      changed.clear()
      return select([...tasks.values()]).states
    },
    /** Calls back a little after files have changed; the returned function ends that. */
    watch(onChange: () => void): () => void {
      let timer: NodeJS.Timeout | undefined
      const watchers = folders.names.flatMap((one) => {
        const deep = deepFolder(one)
        const folder = deep ?? one
        const note = (_: string, name: string | null): void => {
          if (name === null) isStale = true
          else if (folders.ids.inFileName(basename(name)) === null) return
          else changed.add(fileIn(folder, name))
          timer ??= setTimeout(() => {
            timer = undefined
            onChange()
          }, SETTLE_MS)
        }
        try {
          // No more events come from a folder that was removed.
          return [watch(join(root, folder), { recursive: deep !== null }, note).on('error', () => undefined)]
        } catch {
          return []
        }
      })
      return () => {
        for (const watcher of watchers) watcher.close()
        clearTimeout(timer)
      }
    },
  }
}
