/**
 * Counts the model's turns in a stream without turn numbers: a turn starts when the model writes text or calls a
 * tool, and ends when a tool answers. Tools called together are one turn. A tool that never answers, such as a server
 * in the background, keeps no turn open.
 */
export class TurnCounter {
  #count = 0
  #open = false

  get count(): number {
    return this.#count
  }

  /** Call when the model wrote text, or called a tool. */
  speak(): void {
    if (!this.#open) this.#count++
    this.#open = true
  }

  /** Call when a tool answered. */
  answer(): void {
    this.#open = false
  }
}
