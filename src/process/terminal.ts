import type { ProcessEnd, Running, TerminalUse } from './start.ts'

/** A program that is to have the terminal. */
export interface Borrower {
  /** The task that it works on. */
  readonly task: string
  /** What a person calls it. */
  readonly name: string
  readonly start: (terminal: TerminalUse) => Running
}

/** The terminal of the person who started the run, which can be lent to a program that they drive. */
export interface Terminal {
  /** Lends it to that program, to its end. */
  lend(borrower: Borrower): Promise<ProcessEnd>
}
