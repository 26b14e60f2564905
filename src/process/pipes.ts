import type { Readable } from 'node:stream'
import type { Child } from './launch.ts'
import type { TerminalUse } from './start.ts'
import { listenFor } from './sleep.ts'

type OutputStream = 'stdout' | 'stderr'

/** Gets each chunk; while a promise that it returned is open, no more of that stream is read. */
export type OnOutput = (chunk: Uint8Array, stream: OutputStream) => Promise<void> | undefined | void

/** After the exit: how long a pipe that somebody still holds open may be silent. */
const SILENCE_MS = 300
/** The same for a terminal, which reports no end while ralph has it open: what is left in it comes at once. */
const TERMINAL_SILENCE_MS = 60
/** More than any pipe can hold after the exit: the rest is written by a process that escaped. */
const LEFT_BYTES = 4 * 1024 * 1024

/** The streams of a process's output, and when they have ended. */
interface Sources {
  readonly streams: ReadonlyMap<OutputStream, Readable>
  readonly closed: Promise<void>
  readonly silenceMs: number
  readonly close: () => void
}

/** A terminal is one stream for all output; the output of a process with the person's terminal is not read. */
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

/** The output of a process, passed on no faster than it is handled. A process with the person's terminal has none. */
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
      // Node resumes a child's streams when it exits, paused or not.
      stream.on('resume', () => {
        if (this.#held[name] > 0) stream.pause()
      })
    }
  }

  /**
   * After the exit: passes on what is still in the pipes. It waits for silence, not for their end, which a process that
   * inherited them can delay for ever; and for a slow receiver only until the signal
   * is aborted.
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
