import { type FSWatcher, existsSync, watch } from 'node:fs'
import { join } from 'node:path'
import { type Selection, type TaskState, select } from '../backlog/select/selection.ts'
import {
  TIER_FACTS,
  type TierChoice,
  type TierTable,
  mayDecideTier,
  tierOf,
  tierOfFacts,
} from '../backlog/select/tier.ts'
import { blockedReason } from '../backlog/select/why-not.ts'
import { detached, readFacts, readTask, readTaskFacts } from '../backlog/read.ts'
import type { FactName, Facts, Task, TaskHead } from '../backlog/model.ts'
import type { FactRequest } from '../backlog/head-reader.ts'
import type { Place } from './project.ts'
import { fileIn, idInFileName } from '../backlog/task-folders.ts'

type TierFact = (typeof TIER_FACTS)[number]

/** A backlog with its tasks' states, and what an overview shows of them. */
interface Listing<T extends TaskHead> {
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

/** One write of a file causes several events. */
const SETTLE_MS = 100

/** A backlog whose changed files are read again one by one, so that one change does not read ten thousand files. */
export class LiveListing<K extends FactName> {
  readonly #place: Place
  readonly #facts: readonly K[]
  readonly #tasks = new Map<string, Facts<K>>()
  readonly #changed = new Set<string>()
  #watchers: readonly FSWatcher[] = []
  #timer: NodeJS.Timeout | null = null
  #isStale = true

  constructor(place: Place, facts: readonly K[]) {
    this.#place = place
    this.#facts = facts
  }

  /** The tasks as their files are now, with their states. */
  async read(): Promise<readonly TaskState<Facts<K>>[]> {
    if (this.#isStale) await this.#readAll()
    else for (const file of this.#changed) await this.#readOne(file)
    this.#changed.clear()
    return select([...this.#tasks.values()]).states
  }

  /** Calls back a little after files have changed; the returned function ends that. */
  watch(onChange: () => void): () => void {
    const { root, folders } = this.#place
    this.#watchers = folders.names.flatMap((folder) => {
      try {
        const watcher = watch(join(root, folder), (_, name) => this.#note(folder, name, onChange))
        // No more events come from a folder that was removed.
        return [watcher.on('error', () => undefined)]
      } catch {
        return []
      }
    })
    return () => {
      for (const watcher of this.#watchers) watcher.close()
      if (this.#timer) clearTimeout(this.#timer)
    }
  }

  #note(folder: string, name: string | null, onChange: () => void): void {
    if (name !== null && idInFileName(name) === null) return
    if (name === null) this.#isStale = true
    else this.#changed.add(fileIn(folder, name))
    this.#timer ??= setTimeout(() => {
      this.#timer = null
      onChange()
    }, SETTLE_MS)
  }

  async #readAll(): Promise<void> {
    const { tasks } = await readFacts(this.#place, { facts: this.#facts })
    this.#tasks.clear()
    for (const task of tasks) this.#tasks.set(task.file, task)
    this.#isStale = false
  }

  async #readOne(file: string): Promise<void> {
    const { root, folders } = this.#place
    if (!folders.includes(file) || !existsSync(join(root, file))) this.#tasks.delete(file)
    else this.#tasks.set(file, await readTaskFacts(this.#place, file, { facts: this.#facts }))
  }
}
