import { oneAtATime } from '../../base/mutex.ts'
import type { Happening } from '../events/event.ts'
import type { Queue } from './queue.ts'

/** How long events are collected before they are sent. */
const GATHER_MS = 200

/** Sends the events of a job to the run, in order; repeats what a queue that was gone for a moment has missed. */
export class Outbox {
  readonly #queue: Queue
  readonly #parcel: string
  #waiting: Happening[] = []
  readonly #inTurn = oneAtATime()
  #timer: NodeJS.Timeout | undefined

  constructor(queue: Queue, parcel: string) {
    this.#queue = queue
    this.#parcel = parcel
  }

  put(event: Happening): void {
    this.#waiting.push(event)
    this.#timer ??= setTimeout(() => void this.flush(), GATHER_MS)
  }

  /** Sends what has not been sent yet. */
  flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    return this.#inTurn(async () => {
      const events = this.#waiting
      if (events.length === 0) return
      this.#waiting = []
      try {
        await this.#queue.sendEvents({ parcel: this.#parcel, events })
      } catch {
        this.#waiting = [...events, ...this.#waiting]
      }
    })
  }
}
