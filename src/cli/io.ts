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
