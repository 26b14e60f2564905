/**
 * Counts the model's turns in a stream that does not number them: a turn opens with the first thing that the
 * model says or calls, and closes when its last tool has answered. Tools called together are one turn.
 */
export class TurnCounter {
  #count = 0
  #open = false
  readonly #running = new Set<string>()

  get count(): number {
    return this.#count
  }

  /** The model said something. */
  speak(): void {
    if (!this.#open) this.#count++
    this.#open = true
  }

  /** The model called a tool. */
  call(id: string): void {
    this.speak()
    this.#running.add(id)
  }

  /** A tool answered. */
  answer(id: string): void {
    this.#running.delete(id)
    if (this.#running.size === 0) this.#open = false
  }
}
