/**
 * Counts the model's turns in a stream that does not number them: a turn opens with the first thing that the model says
 * or calls, and closes when a tool answers. Tools called together are one turn. A tool that never answers, as a server
 * that goes on in the background, holds no turn open.
 */
export class TurnCounter {
  #count = 0
  #open = false

  get count(): number {
    return this.#count
  }

  /** The model said something, or called a tool. */
  speak(): void {
    if (!this.#open) this.#count++
    this.#open = true
  }

  /** A tool answered. */
  answer(): void {
    this.#open = false
  }
}
