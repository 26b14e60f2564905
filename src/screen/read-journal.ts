import { closeSync, fstatSync, openSync, readFileSync, readSync, statSync } from 'node:fs'
import { namesIn } from '../base/folder.ts'
import { LineSplitter } from '../base/stream.ts'
import { eventIn, type RunEvent } from '../engine/events/event.ts'
import { statusAfter, type RunStatus } from './run-status.ts'
import { journalPath } from '../engine/journal.ts'

/** How much is read at once: its events are parsed in about a millisecond. */
const CHUNK_BYTES = 64 * 1024

/** Reads the events of a journal while a run may still write it: each once, and only whole lines. */
export class JournalReader {
  readonly #path: string
  readonly #buffer = Buffer.allocUnsafe(CHUNK_BYTES)
  #lines = new LineSplitter()
  #file: number | null = null
  #position = 0

  constructor(path: string) {
    this.#path = path
  }

  /** The next events; null if there are no more now. */
  next(): readonly RunEvent[] | null {
    if (this.#file === null && !this.#open()) return null
    const length = readSync(this.#file!, this.#buffer, 0, CHUNK_BYTES, this.#position)
    if (length === 0) return null
    this.#position += length
    return this.#lines.push(this.#buffer.subarray(0, length)).flatMap((line) => eventIn(line) ?? [])
  }

  /** Checks whether the file was replaced, for example after an agent cleaned the tree: then reads it from its beginning. */
  refresh(): void {
    if (this.#file === null) return
    try {
      const [here, there] = [fstatSync(this.#file), statSync(this.#path)]
      if (here.ino === there.ino && there.size >= this.#position) return
    } catch {
      // There is no file now; what was read before stays read.
      return
    }
    this.close()
  }

  close(): void {
    if (this.#file !== null) closeSync(this.#file)
    this.#file = null
    this.#position = 0
    this.#lines = new LineSplitter()
  }

  #open(): boolean {
    try {
      this.#file = openSync(this.#path, 'r')
      return true
    } catch {
      return false
    }
  }
}

/** The runs with journals, oldest first. */
export function runsIn(logs: string): readonly string[] {
  return namesIn(logs)
    .flatMap((name) => /^run-(.+)\.ndjson$/.exec(name)?.[1] ?? [])
    .toSorted()
}

/** All events of that run that its journal holds. */
export function* readEvents(logs: string, run: string): Iterable<RunEvent> {
  const reader = new JournalReader(journalPath(logs, run))
  try {
    for (let events = reader.next(); events; events = reader.next()) yield* events
  } finally {
    reader.close()
  }
}

/** An agent's output is most of a journal, and does not change the status. */
const CHATTER = /"type":"agent-(?:text|tool|usage|started)"/

/** The status of that run; null if its journal is empty. */
export function readStatus(logs: string, run: string): RunStatus | null {
  const lines = readFileSync(journalPath(logs, run), 'utf8').split('\n')
  const events = lines.flatMap((line) => (CHATTER.test(line.slice(0, 200)) ? [] : (eventIn(line) ?? [])))
  return events.reduce<RunStatus | null>(statusAfter, null)
}
