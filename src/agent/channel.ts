/** A queue between one who pushes and one who takes, in which the one who pushes can wait for room. */
export class Channel<T> {
  #items: T[] = []
  #closed = false
  /** The one who takes has dealt with everything and waits for more. */
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

  /** Nothing more will be pushed. */
  close(): void {
    this.#closed = true
    this.#wake?.()
  }

  /** Until all that was pushed has been dealt with; undefined where there is nothing to wait for. */
  room(): Promise<void> | undefined {
    if (this.isDrained) return undefined
    this.#room ??= new Promise((resolve) => (this.#makeRoom = resolve))
    return this.#room
  }

  /** All that has been pushed since, as soon as there is something; null at the end. To ask is to have dealt with the last. */
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
