import { fstatSync, statSync, writeSync } from 'node:fs'
import { codeOf, UserError } from '../base/errors.ts'
import type { McpStreams } from './mcp/server.ts'
import type { World } from '../base/world.ts'
import type { Keyboard } from './keyboard.ts'

/** All that a command may use of the outside world: bin.ts passes the real one, a test its own. */
export interface Io extends World {
  /** The arguments after the program's name. */
  readonly argv: readonly string[]
  readonly stdout: Outlet
  readonly stderr: Outlet
  /** Reads all of standard input. */
  readonly readInput: () => Promise<Uint8Array>
  /** The streams to ask a person through; null if nobody is there to answer. */
  readonly dialogue: () => Dialogue | null
  /** The keys of the terminal while it is drawn on; null without a terminal. */
  readonly keyboard: () => Keyboard | null
  /** Calls back at the very end of the process, however it ends; the returned function cancels that. */
  readonly atExit: (work: () => void) => () => void
  /** The streams to another program; null if a person uses them. */
  readonly pipes: () => McpStreams | null
  /** The log of the run that this process makes, for the message about a bug: the run sets it. */
  readonly runLog: { path: string | null }
  /** Aborts at the first interrupt; Node handles Ctrl-C itself until a command reads this. */
  readonly signal: AbortSignal
}

/** An output stream. */
export interface Outlet {
  readonly write: (text: string | Uint8Array) => void
  /** Whether all text has been written, with none waiting for the reader. */
  readonly isWritten: boolean
  /** The terminal's current width; null if it is no terminal. */
  readonly columns: number | null
  /** Its current height; null if it is no terminal. */
  readonly rows: number | null
  /** Calls back when the terminal's size changes; the returned function ends that. */
  readonly onResize: (listener: () => void) => () => void
}

export interface Dialogue {
  readonly input: NodeJS.ReadStream
  readonly output: NodeJS.WriteStream
}

/** The streams to ask a person through; null if nobody is there to answer. */
export function openDialogue(input: NodeJS.ReadStream, output: NodeJS.WriteStream): Dialogue | null {
  if (!input.isTTY || !output.isTTY) return null
  // A terminal that was closed during a question accepts no output. Then the signal ends the question, not an error
  // of readline or of the output.
  output.on('error', () => undefined)
  const setRawMode = input.setRawMode.bind(input)
  input.setRawMode = (mode) => {
    try {
      return setRawMode(mode)
    } catch {
      return input
    }
  }
  return { input, output }
}

/** One of the process's two output streams, as bin.ts knows it. */
interface OutletSource {
  readonly fd: number
  /** Opens Node's own stream, which takes as long as the rest of a short command. */
  readonly open: () => NodeJS.WriteStream
  /** Called once, when nothing more can be written: with null if only the reader has gone, as in `ralph list | head`. */
  readonly onLost: (error: UserError | null) => void
}

/** Writes at once and in order; opens Node's stream only for a terminal, or if the other end is slow. */
export function createOutlet({ fd, open, onLost }: OutletSource): Outlet {
  let state: 'direct' | 'queued' | 'lost' = 'direct'
  const lose = (error: unknown): void => {
    if (state === 'lost') return
    state = 'lost'
    onLost(lossOf(error))
  }
  const opened = once(() => open().on('error', lose))
  const mayBeTerminal = once(() => isTerminalLike(fd))
  return {
    get isWritten() {
      return state === 'direct'
    },
    get columns() {
      return mayBeTerminal() && opened().isTTY ? opened().columns || 80 : null
    },
    get rows() {
      return mayBeTerminal() && opened().isTTY ? opened().rows || 24 : null
    },
    onResize(listener) {
      if (!mayBeTerminal()) return () => undefined
      const stream = opened().on('resize', listener)
      return () => void stream.off('resize', listener)
    },
    write(text) {
      if (state === 'lost') return
      const bytes = Buffer.from(text)
      const rest = state === 'queued' || mayBeTerminal() ? bytes : writeNow(fd, bytes, lose)
      if (rest.length === 0) return
      state = 'queued'
      opened().write(rest)
    },
  }
}

/** Writes without waiting, and returns the rest. */
function writeNow(fd: number, bytes: Buffer, lose: (error: unknown) => void): Buffer {
  let rest = bytes
  try {
    while (rest.length > 0) rest = rest.subarray(writeSync(fd, rest))
  } catch (error) {
    if (codeOf(error) === 'EAGAIN') return rest
    lose(error)
    return Buffer.alloc(0)
  }
  return rest
}

function lossOf(error: unknown): UserError | null {
  const code = codeOf(error)
  if (code === 'EPIPE') return null
  return new UserError(
    `cannot write output (${String(code)})`,
    'Look whether the disk is full, and what its output was sent to.',
  )
}

function isTerminalLike(fd: number): boolean {
  try {
    const stats = fstatSync(fd)
    // /dev/null is a device too, and needs no stream. (node:os knows its name, but takes 2 ms to load.)
    return stats.isCharacterDevice() && stats.rdev !== statSync('/dev/null').rdev
  } catch {
    // A closed descriptor, or a system without that device: Node's stream handles both.
    return true
  }
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}
