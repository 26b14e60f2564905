import type { Pipes } from '../mcp/server.ts'
import type { World } from '../project/world.ts'
import type { Keyboard } from './keyboard.ts'

/** Everything that a command may know or touch of the world outside: bin.ts hands over the real one, a test its own. */
export interface Io extends World {
  /** What follows the program's name. */
  readonly argv: readonly string[]
  readonly stdout: Outlet
  readonly stderr: Outlet
  /** All that comes in on standard input, to its end. */
  readonly readInput: () => Promise<Uint8Array>
  /** The streams to ask a person through; null where nobody is there to answer. */
  readonly dialogue: () => Dialogue | null
  /** The keys of a terminal that is drawn on meanwhile; null where there is none. */
  readonly keyboard: () => Keyboard | null
  /** The streams to speak with another program through; null where a person sits at them. */
  readonly pipes: () => Pipes | null
  /** Aborts at the first interrupt; only a command that reads it takes Ctrl-C over from Node. */
  readonly signal: AbortSignal
}

/** Where text goes out. */
export interface Outlet {
  readonly write: (text: string | Uint8Array) => void
  /** All of it has been written, and none waits for the other end to take it. */
  readonly isWritten: boolean
  /** The terminal's width now; null where it is no terminal. */
  readonly columns: number | null
  /** Its height now; null where it is no terminal. */
  readonly rows: number | null
  /** Calls back whenever the terminal has another size; what it returns ends that. */
  readonly onResize: (listener: () => void) => () => void
}

export interface Dialogue {
  readonly input: NodeJS.ReadStream
  readonly output: NodeJS.WriteStream
}
