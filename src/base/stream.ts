const NEWLINE = 10

/**
 * Splits a stream of bytes into lines, for any chunks. A line that is longer than the limit is cut where it
 * comes in several chunks, so memory is bounded; bytes that are not UTF-8 become replacement characters.
 */
export class LineSplitter {
  readonly #maxBytes: number
  /** The beginning of an unfinished line. */
  #pending = Buffer.alloc(0)
  #length = 0

  constructor(maxBytes = 10 * 1024 * 1024) {
    this.#maxBytes = maxBytes
  }

  /** Adds a chunk and returns the lines that it completes, without their endings. */
  push(chunk: Uint8Array): readonly string[] {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    const first = bytes.indexOf(NEWLINE)
    if (first === -1) {
      this.#keep(bytes)
      return []
    }
    this.#keep(bytes.subarray(0, first))
    const lines = [this.#take()]
    const last = bytes.lastIndexOf(NEWLINE)
    if (last > first) {
      for (const line of bytes.toString('utf8', first + 1, last).split('\n')) lines.push(withoutReturn(line))
    }
    this.#keep(bytes.subarray(last + 1))
    return lines
  }

  /** The rest after the last newline: an unfinished line, or nothing. */
  end(): readonly string[] {
    return this.#length === 0 ? [] : [this.#take()]
  }

  #keep(bytes: Buffer): void {
    const fits = bytes.subarray(0, this.#maxBytes - this.#length)
    const needed = this.#length + fits.length
    if (needed > this.#pending.length) {
      const grown = Buffer.allocUnsafe(Math.min(this.#maxBytes, Math.max(needed, this.#pending.length * 2)))
      this.#pending.copy(grown, 0, 0, this.#length)
      this.#pending = grown
    }
    fits.copy(this.#pending, this.#length)
    this.#length = needed
  }

  #take(): string {
    const line = this.#pending.toString('utf8', 0, this.#length)
    this.#length = 0
    // Frees the memory of a huge line for the rest of the stream.
    if (this.#pending.length > 1024 * 1024) this.#pending = Buffer.alloc(0)
    return withoutReturn(line)
  }
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line
}

/** The last bytes of a stream, in bounded memory. */
export class Tail {
  readonly #maxBytes: number
  #chunks: Buffer[] = []
  #length = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  push(chunk: Uint8Array): void {
    this.#chunks.push(Buffer.from(chunk.subarray(-this.#maxBytes)))
    this.#length += this.#chunks.at(-1)!.length
    // Rarely, so that each byte is copied only once or twice.
    if (this.#length > 2 * this.#maxBytes || this.#chunks.length > 1000) this.#shrink()
  }

  /** Decodes it; invalid UTF-8 is replaced. */
  text(): string {
    this.#shrink()
    return this.#chunks[0]!.toString('utf8')
  }

  #shrink(): void {
    const last = Buffer.concat(this.#chunks).subarray(-this.#maxBytes)
    this.#chunks = [Buffer.from(last)]
    this.#length = last.length
  }
}
