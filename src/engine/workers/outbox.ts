import type { Happening } from '../events/event.ts'
import type { Queue } from './queue.ts'

/** How long events are collected before they are sent. */
const GATHER_MS = 200

/** Sends the events of a job to the run, in order; repeats what a queue that was gone for a moment has missed. */
export class Outbox {
  readonly #queue: Queue
  readonly #parcel: string
  #waiting: Happening[] = []
  #sending: Promise<void> | null = null
  #timer: NodeJS.Timeout | null = null
  #sent = 0

  constructor(queue: Queue, parcel: string) {
    this.#queue = queue
    this.#parcel = parcel
  }

  put(event: Happening): void {
    this.#waiting.push(event)
    this.#timer ??= setTimeout(() => {
      this.#timer = null
      void this.#send()
    }, GATHER_MS)
  }

  /** Sends what has not been sent yet; returns the number of batches so far. */
  async flush(): Promise<number> {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    await this.#sending
    await this.#send()
    return this.#sent
  }

  async #send(): Promise<void> {
    await this.#sending
    if (this.#waiting.length === 0) return
    this.#sending = this.#sendNow()
    await this.#sending
    this.#sending = null
  }

  async #sendNow(): Promise<void> {
    const events = this.#waiting
    this.#waiting = []
    try {
      await this.#queue.sendEvents({ parcel: this.#parcel, number: this.#sent, events })
      this.#sent++
    } catch {
      this.#waiting = [...events, ...this.#waiting]
    }
  }
}
