import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { LineSplitter } from '../base/stream.ts'
import type { RunEvent } from '../events/event.ts'

/** How much is read at once: what stands in it is read in about a millisecond. */
const CHUNK_BYTES = 64 * 1024

/** Reads the events of a journal while a run may still write it: each once, and none before its line is whole. */
export class JournalReader {
  readonly #path: string
  readonly #buffer = Buffer.allocUnsafe(CHUNK_BYTES)
  #lines = new LineSplitter()
  #file: number | null = null
  #position = 0

  constructor(path: string) {
    this.#path = path
  }

  /** The next of the events; null where there are no more for now. */
  next(): readonly RunEvent[] | null {
    if (this.#file === null && !this.#open()) return null
    const length = readSync(this.#file!, this.#buffer, 0, CHUNK_BYTES, this.#position)
    if (length === 0) return null
    this.#position += length
    return this.#lines.push(this.#buffer.subarray(0, length)).flatMap((line) => eventIn(line) ?? [])
  }

  /** Looks whether another file stands there by now, as where an agent has cleaned the tree: it is read from its beginning. */
  refresh(): void {
    if (this.#file === null) return
    try {
      const [here, there] = [fstatSync(this.#file), statSync(this.#path)]
      if (here.ino === there.ino && there.size >= this.#position) return
    } catch {
      // It is not there for now; what has been read of it has been read.
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

/** The event in a line of a journal; null where it holds none. */
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
