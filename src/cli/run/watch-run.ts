import type { RunEvent } from '../../engine/events/event.ts'
import { isAtWork, RunFollower } from './follow-run.ts'
import type { Place } from '../../project/project.ts'
import { openRepository } from '../../project/repository.ts'
import { runFolder, type RunFolder } from '../../engine/folder.ts'
import { RunModel } from '../../screen/full/model.ts'
import type { Io } from '../io.ts'

/** The events of a journal: all of them, and those that can be shown, without unknown ones of a later version. */
export interface Heard {
  readonly all: readonly RunEvent[]
  readonly known: readonly RunEvent[]
}

/** Gets the events of a watched run. */
interface WatchListener {
  readonly heard: (events: Heard) => void
  /** Called when it is first known whether the run lives, and on each change. */
  readonly changed: () => void
}

/** How often, in seconds, to check whether the process of a running run still lives. */
const LOOK_SECONDS = 2

/** A run as its journal describes it, and whether it lives. */
export class RunWatch {
  readonly model = new RunModel()
  readonly #io: Io
  readonly #place: Place
  readonly #listener: WatchListener
  readonly #follower: RunFollower
  #folder: RunFolder | null = null
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
    this.#follower = new RunFollower(runFolder(place.root).logs, named, {
      began: () => this.#begin(),
      heard: (events) => this.#hear(events),
    })
  }

  /** Whether it runs, so that it can be controlled. */
  get isAlive(): boolean {
    return this.#isAlive && this.model.status?.ended === null
  }

  /** Whether no more events will come. */
  get isOver(): boolean {
    return this.#follower.isCaughtUp && (this.model.isDead || (this.model.status?.ended ?? null) !== null)
  }

  start(): void {
    this.#follower.start()
  }

  /** Called once a second. */
  tick(): void {
    this.#follower.poll()
    if (this.model.status?.ended === null && ++this.#seconds % LOOK_SECONDS === 0) void this.#look()
  }

  close(): void {
    this.#follower.close()
  }

  #begin(): void {
    this.model.clear()
    this.#isAlive = false
    this.#listener.changed()
  }

  #hear(all: readonly RunEvent[]): void {
    const known = all.filter((event) => this.#shows(event))
    if (this.model.status?.ended) this.model.isDead = false
    this.#listener.heard({ all, known })
    if (!this.#isAlive && this.#follower.isCaughtUp) void this.#look()
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
      const isAlive = await isAtWork(await this.#lock(), status.since)
      // The end may have been read meanwhile.
      if (this.model.status?.run !== status.run || this.model.status.ended) return
      const isNews = isAlive !== this.#isAlive || this.model.isDead === isAlive
      this.#isAlive = isAlive
      this.model.isDead = !isAlive
      if (isNews) this.#listener.changed()
    } catch {
      // Without git this is unknown, and not shown.
    } finally {
      this.#isLooking = false
    }
  }

  async #lock(): Promise<string> {
    this.#folder ??= runFolder(
      this.#place.root,
      (await openRepository(this.#io, this.#place.root)).repository,
    )
    return this.#folder.lock
  }
}
