import type { Pane } from './pane.ts'
import type { ProcessEnd, Running, TerminalUse } from './start.ts'

/** How large a terminal is, in characters. */
export interface Size {
  readonly columns: number
  readonly rows: number
}

/** A program that is to have the terminal. */
export interface Borrower {
  /** The task that it works on. */
  readonly task: string
  /** What a person calls it. */
  readonly name: string
  readonly start: (terminal: TerminalUse) => Running
}

/** A program that has a terminal of ralph's own making: it goes on also where the person is not with it. */
export interface Guest {
  readonly name: string
  /** What it shows. */
  readonly pane: Pane
  readonly isAttached: boolean
  /** Gives it another size, where whatever shows it has another one than the person's terminal. */
  resize(size: Size): void
}

/** The terminal of the person who started the run, which can be lent to a program that they drive. */
export interface PersonTerminal {
  /** Lends it to that program, to its end. */
  lend(borrower: Borrower): Promise<ProcessEnd>
  /** Brings the program of a task back that goes on without the person; a sentence that says why not, null where it does. */
  attach(task: string): string | null
  /** The program of a task; null where none is there, or one that was handed the terminal itself. */
  guest(task: string): Guest | null
}
