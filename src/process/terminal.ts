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
  /** The folder that it works in: an editor sees nothing of the work before it has landed. */
  readonly folder: string
  readonly start: (terminal: TerminalUse) => Running
}

/** The terminal of the person who started the run, which can be lent to a program that they use. */
export interface PersonTerminal {
  /** Lends the whole terminal to that program until it ends; another one waits for that. */
  lend(borrower: Borrower): Promise<ProcessEnd>
}
