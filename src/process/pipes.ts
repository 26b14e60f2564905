import type { Readable } from 'node:stream'
import type { Child } from './launch.ts'
import type { TerminalUse } from './start.ts'
import { listenFor } from './sleep.ts'

type OutputStream = 'stdout' | 'stderr'

/** Takes each chunk; while a promise that it returned is open nothing more of that stream is read. */
export type OnOutput = (chunk: Uint8Array, stream: OutputStream) => Promise<void> | undefined | void

/** How long a pipe that somebody still holds open may be silent after the exit. */
const SILENCE_MS = 300
/** The same of a terminal, whose end nobody tells while ralph has it open: what is left in it is there at once. */
const TERMINAL_SILENCE_MS = 60
/** More than any pipe can hold after the exit: what comes beyond it is written by somebody who got away. */
const LEFT_BYTES = 4 * 1024 * 1024

/** Where what a process prints comes from, and when none of it can come any more. */
interface Sources {
  readonly streams: ReadonlyMap<OutputStream, Readable>
  readonly closed: Promise<void>
  readonly silenceMs: number
  readonly close: () => void
}

/** A terminal is one stream for all; one that was handed over is heard by nobody. */
export function sourcesOf(child: Child, terminal: TerminalUse | undefined): Sources {
  const streams = new Map<OutputStream, Readable>()
  if (typeof terminal === 'object') streams.set('stdout', terminal.stream)
  if (child.stdout) streams.set('stdout', child.stdout)
  if (child.stderr) streams.set('stderr', child.stderr)
  if (typeof terminal === 'object')
    return {
      streams,
      closed: new Promise(() => undefined),
      silenceMs: TERMINAL_SILENCE_MS,
      close: () => terminal.close(),
    }
  return {
    streams,
    closed: new Promise((resolve) => child.once('close', () => resolve())),
    silenceMs: SILENCE_MS,
    close: () => streams.forEach((stream) => stream.destroy()),
  }
}

/** The pipes of a process: what it says is handed on no faster than it is taken. One that has a terminal has none. */
export class Pipes {
  readonly #streams: Sources['streams']
  readonly #silenceMs: number
  readonly #close: () => void
  readonly #onOutput: OnOutput
  readonly #onFault: () => void
  readonly #closed: Promise<void>
  #bytes = 0
  readonly #held = { stdout: 0, stderr: 0 }
  #fault: { readonly error: unknown } | undefined

  constructor({ streams, closed, silenceMs, close }: Sources, onOutput: OnOutput, onFault: () => void) {
    this.#streams = streams
    this.#silenceMs = silenceMs
    this.#close = close
    this.#onOutput = onOutput
    this.#onFault = onFault
    this.#closed = closed
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
      await Promise.race([closed, listenFor(this.#silenceMs, silence.signal)])
      if (silence.signal.aborted) break
    }
    this.#close()
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
