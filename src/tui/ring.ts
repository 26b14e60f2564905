/** The newest of many, known by how many there were before: so who has scrolled back stays where they are. */
export class Ring<T> {
  readonly #most: number
  #kept: T[] = []
  #dropped = 0

  constructor(most: number) {
    this.#most = most
  }

  /** The number of the oldest that is kept. */
  get first(): number {
    return this.end - Math.min(this.#kept.length, this.#most)
  }

  /** The number of the one that comes next. */
  get end(): number {
    return this.#dropped + this.#kept.length
  }

  push(value: T): void {
    this.#kept.push(value)
    // Seldom, so that each is moved once.
    if (this.#kept.length >= 2 * this.#most) this.shrink(this.#most)
  }

  /** The one of that number; undefined where it is not kept any more, or not there yet. */
  at(number: number): T | undefined {
    return number < this.first ? undefined : this.#kept[number - this.#dropped]
  }

  /** Puts another in the place of one that is kept. */
  replace(number: number, value: T): void {
    const index = number - this.#dropped
    if (index >= 0 && index < this.#kept.length) this.#kept[index] = value
  }

  /** Keeps no more than so many of them. */
  shrink(most: number): void {
    const over = Math.max(0, this.#kept.length - most)
    this.#kept = this.#kept.slice(over)
    this.#dropped += over
  }
}
