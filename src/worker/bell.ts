import { sleep } from '../process/sleep.ts'

/** So long what comes at once is gathered before it is looked at. */
const GATHER_MS = 20

/** Wakes a loop that waits until it is time to look again. */
export class Bell {
  #isRung = false
  #wake: () => void = () => undefined

  ring(): void {
    this.#isRung = true
    this.#wake()
  }

  /** Waits so long, and less where it rings, or has rung since the last wait. */
  async wait(milliseconds: number, signal?: AbortSignal): Promise<void> {
    const over = new AbortController()
    this.#wake = () => over.abort()
    signal?.addEventListener('abort', this.#wake)
    if (!this.#isRung && !signal?.aborted) await sleep(milliseconds, over.signal)
    signal?.removeEventListener('abort', this.#wake)
    if (this.#isRung) await sleep(GATHER_MS, signal)
    this.#isRung = false
  }
}
