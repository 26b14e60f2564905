import type { Pane } from './pane.ts'
import type { ProcessEnd, Running, TerminalUse } from './start.ts'

/** The size of a terminal, in characters. */
export interface Size {
  readonly columns: number
  readonly rows: number
}

/** A program that is to get the terminal. */
export interface Borrower {
  /** The task that it works on. */
  readonly task: string
  /** Its name on the screen. */
  readonly name: string
  readonly start: (terminal: TerminalUse) => Running
}

/** A program in a terminal that ralph made: it continues also while the person does not watch it. */
export interface Guest {
  readonly name: string
  /** Its screen. */
  readonly pane: Pane
  readonly isAttached: boolean
  /** Changes its size, if its view is not as large as the person's terminal. */
  resize(size: Size): void
}

/** The terminal of the person who started the run, which can be lent to a program that they use. */
export interface PersonTerminal {
  /** Lends it to that program until it ends. */
  lend(borrower: Borrower): Promise<ProcessEnd>
  /** Shows the person the running program of a task again; null, or a sentence that says why not. */
  attach(task: string): string | null
  /** The program of a task; null if there is none, or if it has the person's terminal itself. */
  guest(task: string): Guest | null
}
