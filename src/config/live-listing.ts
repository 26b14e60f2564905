import { existsSync, watch, type FSWatcher } from 'node:fs'
import { join } from 'node:path'
import { select, type TaskState } from '../backlog/select/selection.ts'
import { idInFileName } from '../backlog/file-name.ts'
import { fileIn } from '../backlog/task-folders.ts'
import type { FactName, Facts } from '../backlog/model.ts'
import { readFacts, readTaskFacts } from '../backlog/read.ts'
import type { Place } from './project.ts'

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
