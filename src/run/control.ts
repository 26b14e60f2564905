import type { Happening } from '../events/event.ts'

/**
 * What somebody can do to a run while it goes on. A key, a command in another terminal and Ctrl-C call the same; the run
 * and its attempts ask it where they may stop.
 */
export class Control {
  /** The first Ctrl-C: what is under way is put in order, then the run ends. */
  readonly signal: AbortSignal
  /** The second: what still runs is ended at once. */
  readonly killSignal: AbortSignal
  /** No further attempt begins: whoever waits for one waits no more. */
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

  constructor() {
    this.signal = this.#stop.signal
    this.killSignal = this.#kill.signal
    this.stopping = this.#stopping.signal
  }

  /** Stops as these signals say: those of a terminal. */
  obey(first: AbortSignal, second: AbortSignal): this {
    const stop = (): void => this.stop('clean')
    const kill = (): void => this.stop('now')
    if (first.aborted) stop()
    if (second.aborted) kill()
    first.addEventListener('abort', stop)
    second.addEventListener('abort', kill)
    return this
  }

  /** Hears what is done to the run; returns what ends that. */
  listen(emit: (event: Happening) => void): () => void {
    this.#emitters.add(emit)
    return () => this.#emitters.delete(emit)
  }

  /** No further attempt begins until somebody resumes. */
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

  /** Ends the run: after the attempt that is under way, in order, or at once. */
  stop(how: 'after-attempt' | 'clean' | 'now'): void {
    if (!this.isStopping) this.#emit({ type: 'stopping' })
    this.#stopping.abort('interrupt')
    this.#resume?.()
    this.#paused = null
    if (how !== 'after-attempt') this.#stop.abort('interrupt')
    if (how === 'now') this.#kill.abort('now')
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

  /** Has the person at the terminal of the run go on with that task by hand; a sentence that says why not, null where they do. */
  takeOver(task: string): string | null {
    const take = this.#offers.get(task)
    return take ? take() : `no agent is at work on ${task}`
  }

  /** From here on taking that task over does this, until what is returned is called. */
  offer(task: string, take: () => string | null): () => void {
    this.#offers.set(task, take)
    return () => {
      if (this.#offers.get(task) === take) this.#offers.delete(task)
    }
  }

  /** Answers the question about that task; false where none is asked. */
  answer(task: string, answer: string): boolean {
    const take = this.#answers.get(task)
    take?.(answer)
    return take !== undefined
  }

  /** Has a failed task tried again, where the run asks what to do with it. */
  retry(task: string): boolean {
    return this.answer(task, 'retry')
  }

  /** The answer that comes this way, if one does before the signal is aborted. */
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

  /** Resolves at once, or when a pause ends, or when nobody waits for that any more. */
  async unpaused(over?: AbortSignal): Promise<void> {
    if (!this.#paused || over?.aborted) return
    const given = new Promise<void>((resolve) => {
      over?.addEventListener('abort', () => resolve(), { once: true })
    })
    await Promise.race([this.#paused, given])
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
