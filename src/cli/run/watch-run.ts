import { watch, type FSWatcher } from 'node:fs'
import { UserError } from '../../base/errors.ts'
import type { RunEvent } from '../../engine/events/event.ts'
import { runFolder } from '../../engine/folder.ts'
import { journalPath } from '../../engine/journal.ts'
import { lockOwner } from '../../process/lock.ts'
import type { Place } from '../../config/project.ts'
import { openRepository } from '../../git/open-repository.ts'
import { RunModel } from '../../screen/full/model.ts'
import { JournalReader, runsIn } from '../../screen/read-journal.ts'
import type { Io } from '../io.ts'
/** Gets the events of a watched run. */
interface WatchListener {
  /** Called with the events that can be shown; those of a later version are only among `all`. */
  readonly heard: (known: readonly RunEvent[], all: readonly RunEvent[]) => void
  /** Called when it is first known whether the run lives, and on each change. */
  readonly changed: () => void
}

/** How often, in seconds, to check whether the process of a running run still lives. */
const LOOK_SECONDS = 2

/**
 * A run as its journal describes it, and whether it lives. The journal is followed while it is written; then the next run
 * that begins here, unless one was named.
 */
export class RunWatch {
  readonly model = new RunModel()
  readonly #io: Io
  readonly #place: Place
  readonly #listener: WatchListener
  readonly #logs: string
  readonly #isNamed: boolean
  #run: string
  #reader: JournalReader
  #watcher: FSWatcher | null = null
  #reading: NodeJS.Immediate | null = null
  /** Whether all events of the journal so far were passed on. */
  #isCaughtUp = false
  #isAlive = false
  #isLooking = false
  #seconds = 0

  constructor(
    io: Io,
    { place, named }: { readonly place: Place; readonly named: string | undefined },
    listener: WatchListener,
  ) {
    this.#io = io
    this.#place = place
    this.#listener = listener
    this.#logs = runFolder(place.root).logs
    this.#isNamed = named !== undefined
    this.#run = chosen(runsIn(this.#logs), named)
    this.#reader = this.#open()
  }

  /** Whether it runs, so that it can be controlled. */
  get isAlive(): boolean {
    return this.#isAlive && this.model.status?.ended === null
  }

  /** Whether no more events will come. */
  get isOver(): boolean {
    return this.#isCaughtUp && (this.model.isDead || (this.model.status?.ended ?? null) !== null)
  }

  /** Reads the first part at once; the rest follows in steps. */
  start(): void {
    this.#step()
  }

  /** Reads new events without an event of the file system, and looks whether the run lives; called once a second. */
  tick(): void {
    const newest = this.#isNamed ? undefined : runsIn(this.#logs).at(-1)
    if (newest !== undefined && newest !== this.#run) this.#follow(newest)
    else this.#reader.refresh()
    this.#read()
    if (this.model.status?.ended === null && ++this.#seconds % LOOK_SECONDS === 0) void this.#look()
  }

  close(): void {
    this.#watcher?.close()
    this.#reader.close()
    if (this.#reading) clearImmediate(this.#reading)
    this.#reading = null
  }

  #follow(run: string): void {
    this.close()
    this.#run = run
    this.#reader = this.#open()
    this.#isCaughtUp = false
    this.model.clear()
    this.#isAlive = false
    this.#listener.changed()
  }

  #open(): JournalReader {
    const path = journalPath(this.#logs, this.#run)
    try {
      this.#watcher = watch(path, () => this.#read()).on('error', () => undefined)
    } catch {
      // File watching may not be available: then polling once a second is enough.
      this.#watcher = null
    }
    return new JournalReader(path)
  }

  #read(): void {
    this.#reading ??= setImmediate(() => {
      this.#reading = null
      this.#step()
    })
  }

  /** Reads one part at a time, so that keys work while a long journal is read. */
  #step(): void {
    const events = this.#reader.next()
    if (events === null) {
      const wasCaughtUp = this.#isCaughtUp
      this.#isCaughtUp = true
      if (!wasCaughtUp) this.#hear([])
      return
    }
    if (events.length > 0) this.#hear(events)
    this.#read()
  }

  #hear(all: readonly RunEvent[]): void {
    const known = all.filter((event) => this.#shows(event))
    if (this.model.status?.ended) this.model.isDead = false
    this.#listener.heard(known, all)
    if (!this.#isAlive && this.#isCaughtUp) void this.#look()
  }

  #shows(event: RunEvent): boolean {
    try {
      this.model.event(event)
      return true
    } catch {
      // It is from a later version, or somebody has edited the journal.
      return false
    }
  }

  async #look(): Promise<void> {
    const { status } = this.model
    if (this.#isLooking || !status || status.ended) return
    this.#isLooking = true
    try {
      const { root } = this.#place
      const { repository } = await openRepository(this.#io, root)
      const held = await lockOwner(runFolder(root, repository).lock)
      // The end may have been read meanwhile.
      if (this.model.status?.run !== status.run || this.model.status.ended) return
      // A later owner has taken the lock over from a dead run.
      const isAlive = held?.alive === true && held.owner.since <= status.since
      const differs = isAlive !== this.#isAlive || this.model.isDead === isAlive
      this.#isAlive = isAlive
      this.model.isDead = !isAlive
      if (differs) this.#listener.changed()
    } catch {
      // Without git this is unknown, and not shown.
    } finally {
      this.#isLooking = false
    }
  }
}

/** The run that was named by an unambiguous part of its name; else the last one. */
function chosen(runs: readonly string[], named: string | undefined): string {
  const last = runs.at(-1)
  if (last === undefined) throw new UserError('no runs yet', 'ralph run starts one.', 1)
  if (named === undefined) return last
  const found = runs.filter((run) => run.startsWith(named))
  const one = found.find((run) => run === named) ?? (found.length === 1 ? found[0] : undefined)
  if (one !== undefined) return one
  throw new UserError(
    found.length === 0
      ? `there is no run ${named} here`
      : `${named} is the beginning of ${found.length} runs`,
    'ralph status --all shows them all.',
  )
}
