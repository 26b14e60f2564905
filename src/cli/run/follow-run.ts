import { watch, type FSWatcher } from 'node:fs'
import { UserError } from '../../base/errors.ts'
import type { RunEvent } from '../../engine/events/event.ts'
import { JournalReader } from '../../screen/read-journal.ts'
import { journalPath } from '../../engine/journal.ts'
import { lockOwner } from '../../process/lock.ts'
import { runsIn } from '../../screen/read-journal.ts'

/** Gets the events of a followed run. */
export interface RunListener {
  /** Called when another run is followed from here on. */
  readonly began: () => void
  readonly heard: (events: readonly RunEvent[]) => void
}

/** Follows a run's journal while it is written, then the next run that begins here, unless one was named. */
export class RunFollower {
  readonly #logs: string
  readonly #listener: RunListener
  readonly #isNamed: boolean
  #run: string
  #reader: JournalReader
  #watcher: FSWatcher | null = null
  #reading: NodeJS.Immediate | null = null
  #isCaughtUp = false

  constructor(logs: string, named: string | undefined, listener: RunListener) {
    this.#logs = logs
    this.#listener = listener
    this.#isNamed = named !== undefined
    this.#run = chosen(runsIn(logs), named)
    this.#reader = this.#open(this.#run)
  }

  /** Whether all events of the journal so far were passed on. */
  get isCaughtUp(): boolean {
    return this.#isCaughtUp
  }

  /** Reads the first part at once; the rest follows in steps. */
  start(): void {
    this.#step()
  }

  /** Reads new events without an event of the file system; called once a second. */
  poll(): void {
    const newest = this.#isNamed ? undefined : runsIn(this.#logs).at(-1)
    if (newest !== undefined && newest !== this.#run) {
      this.#close()
      this.#run = newest
      this.#reader = this.#open(newest)
      this.#isCaughtUp = false
      this.#listener.began()
    } else this.#reader.refresh()
    this.#read()
  }

  close(): void {
    this.#close()
    if (this.#reading) clearImmediate(this.#reading)
    this.#reading = null
  }

  #open(run: string): JournalReader {
    const path = journalPath(this.#logs, run)
    try {
      this.#watcher = watch(path, () => this.#read()).on('error', () => undefined)
    } catch {
      // File watching may not be available: then polling once a second is enough.
      this.#watcher = null
    }
    return new JournalReader(path)
  }

  #close(): void {
    this.#watcher?.close()
    this.#watcher = null
    this.#reader.close()
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
      if (!wasCaughtUp) this.#listener.heard([])
      return
    }
    if (events.length > 0) this.#listener.heard(events)
    this.#read()
  }
}

/** The run that was named by an unambiguous part of its name; else the last one. */
function chosen(runs: readonly string[], named: string | undefined): string {
  const last = runs.at(-1)
  if (last === undefined) throw new UserError('no runs yet', 'ralph run starts one.', 1)
  if (named === undefined) return last
  const found = runs.filter((run) => run === named || run.startsWith(named))
  const one = found.find((run) => run === named) ?? found[0]
  if (one !== undefined && (found.length === 1 || one === named)) return one
  throw new UserError(
    found.length === 0
      ? `there is no run ${named} here`
      : `${named} is the beginning of ${found.length} runs`,
    'ralph status --all shows them all.',
  )
}

/** Whether the run that began then is alive: its process holds the lock as long as it lives. */
export async function isAtWork(lock: string, since: string): Promise<boolean> {
  const held = await lockOwner(lock)
  // A later owner has taken the lock over from a dead run.
  return held?.alive === true && held.owner.since <= since
}
