import type { Readable } from 'node:stream'
import type { Child } from './launch.ts'
import { listenFor } from './sleep.ts'

type OutputStream = 'stdout' | 'stderr'

/** Takes each chunk; while a promise that it returned is open nothing more of that stream is read. */
export type OnOutput = (chunk: Uint8Array, stream: OutputStream) => Promise<void> | undefined | void

/** How long a pipe that somebody still holds open may be silent after the exit. */
const SILENCE_MS = 300
/** More than any pipe can hold after the exit: what comes beyond it is written by somebody who got away. */
const LEFT_BYTES = 4 * 1024 * 1024

/** The pipes of a process: what it says is handed on no faster than it is taken. One that has a terminal has none. */
export class Pipes {
  readonly #streams: ReadonlyMap<OutputStream, Readable>
  readonly #onOutput: OnOutput
  readonly #onFault: () => void
  readonly #closed: Promise<void>
  #bytes = 0
  readonly #held = { stdout: 0, stderr: 0 }
  #fault: { readonly error: unknown } | undefined

  constructor(child: Child, onOutput: OnOutput, onFault: () => void) {
    const both = [['stdout', child.stdout] as const, ['stderr', child.stderr] as const]
    this.#streams = new Map(both.flatMap(([name, stream]) => (stream ? [[name, stream] as const] : [])))
    this.#onOutput = onOutput
    this.#onFault = onFault
    this.#closed = new Promise((resolve) => child.once('close', () => resolve()))
    for (const [name, stream] of this.#streams) {
      stream.on('data', (chunk: Buffer) => this.#take(chunk, name))
      stream.on('error', ignore)
      // When a child exits Node resumes its streams, held back or not.
      stream.on('resume', () => {
        if (this.#held[name] > 0) stream.pause()
      })
    }
  }

  /**
   * After the exit: hands on what is still in the pipes. It does not wait for their end, which whoever
   * inherited them can put off for ever, but for silence; and for one who takes slowly only until the
   * signal is aborted.
   */
  async drain(hurry: AbortSignal): Promise<void> {
    if (this.#streams.size === 0) return
    const most = this.#bytes + LEFT_BYTES
    let seen = -1
    while (this.#bytes < most && (this.#isHeld ? !hurry.aborted : seen !== this.#bytes)) {
      seen = this.#bytes
      const silence = new AbortController()
      const closed = this.#closed.then(() => silence.abort())
      await Promise.race([closed, listenFor(SILENCE_MS, silence.signal)])
      if (silence.signal.aborted) break
    }
    for (const stream of this.#streams.values()) stream.destroy()
    if (this.#fault) throw this.#fault.error
  }

  get #isHeld(): boolean {
    return this.#held.stdout + this.#held.stderr > 0
  }

  #take(chunk: Uint8Array, name: OutputStream): void {
    this.#bytes += chunk.length
    if (this.#fault) return
    try {
      const wait = this.#onOutput(chunk, name)
      if (wait) void this.#hold(wait, name)
    } catch (error) {
      this.#fail(error)
    }
  }

  async #hold(wait: Promise<void>, name: OutputStream): Promise<void> {
    this.#held[name]++
    const stream = this.#streams.get(name)?.pause()
    try {
      await wait
    } catch (error) {
      this.#fail(error)
    }
    this.#held[name]--
    stream?.resume()
  }

  #fail(error: unknown): void {
    this.#fault ??= { error }
    this.#onFault()
  }
}

function ignore(): void {
  return
}
