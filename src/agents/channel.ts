/** A queue between a producer and a consumer, in which the producer can wait for room. */
export class Channel<T> {
  #items: T[] = []
  #closed = false
  /** Whether the consumer has processed everything and waits for more. */
  #waiting = false
  #wake: (() => void) | null = null
  #room: Promise<void> | undefined
  #makeRoom: () => void = () => undefined

  get isDrained(): boolean {
    return this.#waiting && this.#items.length === 0
  }

  push(item: T): void {
    this.#items.push(item)
    this.#wake?.()
  }

  /** Ends the queue: nothing more will be pushed. */
  close(): void {
    this.#closed = true
    this.#wake?.()
  }

  /** Resolves when everything pushed has been processed; undefined if there is nothing to wait for. */
  room(): Promise<void> | undefined {
    if (this.isDrained) return undefined
    this.#room ??= new Promise((resolve) => (this.#makeRoom = resolve))
    return this.#room
  }

  /** Resolves with all items pushed since the last call, whose items count as processed; waits for one; null at the end. */
  async take(): Promise<readonly T[] | null> {
    if (this.#items.length === 0 && !this.#closed) await this.#more()
    const items = this.#items
    this.#items = []
    return items.length > 0 ? items : null
  }

  #more(): Promise<void> {
    this.#room = undefined
    this.#makeRoom()
    return new Promise((resolve) => {
      this.#waiting = true
      this.#wake = () => {
        this.#waiting = false
        this.#wake = null
        resolve()
      }
    })
  }
}
