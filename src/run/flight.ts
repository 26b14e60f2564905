import { utimesSync } from 'node:fs'
import type { AttemptInFlight, InFlight } from './in-flight.ts'
import { clearInFlight, writeInFlight } from './in-flight.ts'

const HEARTBEAT_MS = 5000

/** Keeps `.ralph/run.json` in step with what the run is in the middle of, for the one that may have to go on. */
export class Flight {
  readonly #path: string
  readonly #now: () => Date
  readonly #heartbeat: NodeJS.Timeout
  #note: InFlight

  constructor(
    path: string,
    start: {
      readonly mark: string
      readonly cleanSince: number
      readonly spentUsd: number | null
      readonly attempt: AttemptInFlight | null
      readonly now: () => Date
    },
  ) {
    this.#path = path
    this.#now = start.now
    this.#note = {
      version: 1,
      mark: start.mark,
      startedAt: start.now().toISOString(),
      cleanSince: start.cleanSince,
      spentUsd: start.spentUsd,
      attempt: start.attempt,
    }
    this.#write()
    // The file's time tells later until when the run was alive: what moved HEAD after that was somebody else.
    this.#heartbeat = setInterval(() => this.#beat(), HEARTBEAT_MS)
    this.#heartbeat.unref()
  }

  get mark(): string {
    return this.#note.mark
  }

  get spentUsd(): number | null {
    return this.#note.spentUsd
  }

  /** Whether nothing is under way. */
  get isLanded(): boolean {
    return this.#note.attempt === null
  }

  /** An attempt begins. */
  begin(attempt: AttemptInFlight): void {
    this.#change({ attempt })
  }

  /** The attempt under way has come further. */
  update(part: Partial<AttemptInFlight>): void {
    const { attempt } = this.#note
    if (!attempt) return
    const changed = { ...attempt, ...part }
    if (JSON.stringify(changed) !== JSON.stringify(attempt)) this.#change({ attempt: changed })
  }

  /** What the attempt has cost is the run's now; written at once with taking it off the attempt, so that it counts once. */
  spend(usd: number | null): void {
    const { attempt, spentUsd } = this.#note
    if (usd === null || !attempt) return
    const usage = { ...attempt.usage, costUsd: null }
    this.#change({ spentUsd: (spentUsd ?? 0) + usd, attempt: { ...attempt, usage } })
  }

  /** Nothing is under way any more: the tree is clean, and HEAD is where it should be. */
  land(): void {
    this.#change({ attempt: null })
  }

  /** The same after the task's commit, written with whatever comes next: until then the commit speaks for itself. */
  landSoon(): void {
    this.#note = { ...this.#note, attempt: null }
  }

  /** The process is about to end. Only a run that leaves nothing to finish clears the note. */
  end(): void {
    clearInterval(this.#heartbeat)
    if (this.isLanded) clearInFlight(this.#path)
  }

  #change(part: Partial<InFlight>): void {
    this.#note = { ...this.#note, ...part }
    this.#write()
  }

  #write(): void {
    writeInFlight(this.#path, this.#note)
  }

  #beat(): void {
    try {
      utimesSync(this.#path, this.#now(), this.#now())
    } catch {
      // Somebody removed the folder: then there is nothing to keep alive.
      clearInterval(this.#heartbeat)
    }
  }
}
