import { setMaxListeners } from 'node:events'
import type { Happening, StopMode } from './events/event.ts'

const URGENCY: Readonly<Record<StopMode, number>> = { 'after-attempt': 0, clean: 1, now: 2 }

/**
 * What a person can do to a running run. A key, a command in another terminal and Ctrl-C call the same methods; the run
 * and its attempts check here where they may stop.
 */
export class Control {
  /** The first Ctrl-C: the run ends in order. */
  readonly signal: AbortSignal
  /** The second: what still runs is killed. */
  readonly killSignal: AbortSignal
  /** No further attempt begins: nothing waits for one any more. */
  readonly stopping: AbortSignal
  readonly #stop = new AbortController()
  readonly #kill = new AbortController()
  readonly #stopping = new AbortController()
  readonly #emitters = new Set<(event: Happening) => void>()
  readonly #skips = new Map<string, AbortController>()
  readonly #offers = new Map<string, () => string | null>()
  readonly #answers = new Map<string, (answer: string) => void>()
  #resume: (() => void) | null = null
  #paused: Promise<void> | null = null
  #stopMode: StopMode | null = null

  constructor() {
    this.signal = this.#stop.signal
    this.killSignal = this.#kill.signal
    this.stopping = this.#stopping.signal
    // With many jobs at once, many wait for the same signal.
    setMaxListeners(0, this.signal, this.killSignal, this.stopping)
  }

  /** Stops when these signals of a terminal are aborted. */
  obey(first: AbortSignal, second: AbortSignal): this {
    const stop = (): void => this.stop('clean')
    const kill = (): void => this.stop('now')
    if (first.aborted) stop()
    if (second.aborted) kill()
    first.addEventListener('abort', stop)
    second.addEventListener('abort', kill)
    return this
  }

  /** Emits what is done to the run; the returned function ends that. */
  listen(emit: (event: Happening) => void): () => void {
    this.#emitters.add(emit)
    return () => this.#emitters.delete(emit)
  }

  /** Lets no further attempt begin until it is resumed. */
  pause(): void {
    if (this.#paused || this.signal.aborted) return
    this.#paused = new Promise((resolve) => {
      this.#resume = resolve
    })
    this.#emit({ type: 'paused' })
  }

  get isPaused(): boolean {
    return this.#paused !== null
  }

  resume(): void {
    if (!this.#paused) return
    this.#resume?.()
    this.#paused = null
    this.#emit({ type: 'resumed' })
  }

  /** Ends the run: after the attempt under way, in order, or at once. */
  stop(how: StopMode): void {
    const before = this.#stopMode
    if (before === null || URGENCY[how] > URGENCY[before]) {
      this.#stopMode = how
      this.#emit({ type: 'stopping', how })
    }
    this.#stopping.abort('interrupt')
    this.#resume?.()
    this.#paused = null
    if (how !== 'after-attempt') this.#stop.abort('interrupt')
    if (how === 'now') this.#kill.abort('now')
  }

  /** How it is to end; null if nobody has asked for that. */
  get stopMode(): StopMode | null {
    return this.#stopMode
  }

  /** Whether no further attempt is to begin. */
  get isStopping(): boolean {
    return this.stopping.aborted
  }

  /** Ends the attempt at that task, which is kept, and leaves the task out of this run. */
  skip(task: string): void {
    this.#skipOf(task).abort('skip')
  }

  /** Aborts when the task is skipped. */
  skipped(task: string): AbortSignal {
    return this.#skipOf(task).signal
  }

  /** Lets the person at the run's terminal continue that task by hand; null, or a sentence that says why not. */
  takeOver(task: string): string | null {
    const take = this.#offers.get(task)
    return take ? take() : `no agent is at work on ${task}`
  }

  /** Sets what taking that task over does, until the returned function is called. */
  offer(task: string, take: () => string | null): () => void {
    this.#offers.set(task, take)
    return () => {
      if (this.#offers.get(task) === take) this.#offers.delete(task)
    }
  }

  /** Answers the question about that task; false if there is none. */
  answer(task: string, answer: string): boolean {
    const take = this.#answers.get(task)
    take?.(answer)
    return take !== undefined
  }

  /** Requests another attempt at a failed task, if the run asks what to do with it. */
  retry(task: string): boolean {
    return this.answer(task, 'retry')
  }

  /** The next answer for the task; null if the signal is aborted first. */
  answerTo(task: string, signal: AbortSignal): Promise<string | null> {
    if (signal.aborted) return Promise.resolve(null)
    return new Promise((resolve) => {
      const end = (answer: string | null): void => {
        this.#answers.delete(task)
        resolve(answer)
      }
      this.#answers.set(task, end)
      signal.addEventListener('abort', () => end(null), { once: true })
    })
  }

  /** Resolves at once, or when a pause ends, or when the wait is aborted. */
  async unpaused(over?: AbortSignal): Promise<void> {
    if (!this.#paused || over?.aborted) return
    const aborted = new Promise<void>((resolve) => {
      over?.addEventListener('abort', () => resolve(), { once: true })
    })
    await Promise.race([this.#paused, aborted])
  }

  #skipOf(task: string): AbortController {
    const known = this.#skips.get(task) ?? new AbortController()
    this.#skips.set(task, known)
    return known
  }

  #emit(event: Happening): void {
    for (const emit of this.#emitters) emit(event)
  }
}
