import { sleep } from '../../process/sleep.ts'

/** How long calls are collected before a wait ends. */
const GATHER_MS = 20

/** Wakes a loop that waits for its next round. */
export class Bell {
  #isRung = false
  #wake: () => void = () => undefined

  ring(): void {
    this.#isRung = true
    this.#wake()
  }

  /** Waits this long; shorter if it rings, or has rung since the last wait. */
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
