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
    // Seldom, so that each byte is copied once or twice and not with every chunk.
    if (this.#length > 2 * this.#maxBytes || this.#chunks.length > 1000) this.#shrink()
  }

  /** As text, with what is not UTF-8 replaced. */
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
