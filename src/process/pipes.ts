import type { Readable } from 'node:stream'
import type { Child } from './launch.ts'
import type { TerminalUse } from './start.ts'
import { listenFor } from './sleep.ts'

type OutputStream = 'stdout' | 'stderr'

/** Gets each chunk at once. */
export type OnOutput = (chunk: Uint8Array, stream: OutputStream) => void

/** After the exit: how long a pipe that somebody still holds open may be silent. */
const SILENCE_MS = 300
/** The same for a terminal, which reports no end while ralph has it open: what is left in it comes at once. */
const TERMINAL_SILENCE_MS = 60
/** More than any pipe can hold after the exit: the rest is written by a process that escaped. */
const LEFT_BYTES = 4 * 1024 * 1024

/** The streams of a process's output, when they have ended, and how to close them. */
type Sources = ReturnType<typeof sourcesOf>

/** A terminal is one stream for all output; the output of a process with the person's terminal is not read. */
export function sourcesOf(child: Child, terminal: TerminalUse | undefined) {
  const streams = new Map<OutputStream, Readable>()
  if (typeof terminal === 'object') streams.set('stdout', terminal.stream)
  if (child.stdout) streams.set('stdout', child.stdout)
  if (child.stderr) streams.set('stderr', child.stderr)
  if (typeof terminal === 'object')
    return {
      streams,
      closed: new Promise<void>(() => undefined),
      silenceMs: TERMINAL_SILENCE_MS,
      close: () => terminal.close(),
    }
  return {
    streams,
    closed: new Promise<void>((resolve) => child.once('close', () => resolve())),
    silenceMs: SILENCE_MS,
    close: () => streams.forEach((stream) => stream.destroy()),
  }
}

/** The output of a process, passed on as it comes. A process with the person's terminal has none. */
export class Pipes {
  readonly #sources: Sources
  #bytes = 0
  #fault: { readonly error: unknown } | undefined

  constructor(sources: Sources, onOutput: OnOutput, onFault: () => void) {
    this.#sources = sources
    for (const [name, stream] of sources.streams) {
      stream.on('data', (chunk: Buffer) => {
        this.#bytes += chunk.length
        if (this.#fault) return
        try {
          onOutput(chunk, name)
        } catch (error) {
          this.#fault = { error }
          onFault()
        }
      })
      stream.on('error', () => undefined)
    }
  }

  /**
   * After the exit: passes on what is still in the pipes. It waits for silence, not for their end, which a process that
   * inherited them can delay for ever.
   */
  async drain(): Promise<void> {
    const { streams, closed, silenceMs, close } = this.#sources
    if (streams.size === 0) return
    const silence = new AbortController()
    void closed.then(() => silence.abort())
    const most = this.#bytes + LEFT_BYTES
    for (let seen = -1; seen !== this.#bytes && this.#bytes < most && !silence.signal.aborted;) {
      seen = this.#bytes
      await listenFor(silenceMs, silence.signal)
    }
    close()
    if (this.#fault) throw this.#fault.error
  }
}
