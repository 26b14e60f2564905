import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { LineSplitter } from '../base/stream.ts'
import type { RunEvent } from '../events/event.ts'

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

/** The event in a line of a journal; null if there is none. */
function eventIn(line: string): RunEvent | null {
  try {
    const read: unknown = JSON.parse(line)
    return isEvent(read) ? read : null
  } catch {
    // Somebody has written into it, or a disk was full.
    return null
  }
}

function isEvent(read: unknown): read is RunEvent {
  return typeof read === 'object' && read !== null && 'type' in read && 'at' in read
}
