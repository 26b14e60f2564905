/** The newest of many items. Each keeps its number, so that a scrolled view stays where it is. */
export class Ring<T> {
  readonly #most: number
  #kept: T[] = []
  #dropped = 0

  constructor(most: number) {
    this.#most = most
  }

  /** The number of the oldest kept item. */
  get first(): number {
    return this.end - Math.min(this.#kept.length, this.#most)
  }

  /** The number of the next item. */
  get end(): number {
    return this.#dropped + this.#kept.length
  }

  push(value: T): void {
    this.#kept.push(value)
    // Not on each push, so that each item is moved only once.
    if (this.#kept.length >= 2 * this.#most) this.shrink(this.#most)
  }

  /** The item with that number; undefined if it is not kept any more, or does not exist yet. */
  at(number: number): T | undefined {
    return number < this.first ? undefined : this.#kept[number - this.#dropped]
  }

  /** Keeps at most this many items. */
  shrink(most: number): void {
    const over = Math.max(0, this.#kept.length - most)
    this.#kept = this.#kept.slice(over)
    this.#dropped += over
  }
}
