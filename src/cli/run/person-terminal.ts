import { keepTerminalModes, type Borrower, type PersonTerminal } from '../../process/terminal.ts'
import type { ProcessEnd } from '../../process/start.ts'
import { KEEP_TITLE, TITLE_BACK, USUAL_MODES } from '../../screen/style.ts'
import type { Io } from '../io.ts'

/**
 * The terminal of a run, which a person's program can have as a whole; null if there is none, or if nothing can be drawn on
 * it. `suspend` removes the view of the run, and returns what shows it again.
 */
export function openPersonTerminal(io: Io, suspend: () => () => void): PersonTerminal | null {
  const keyboard = io.keyboard()
  const { columns } = io.stdout
  if (keyboard === null || io.dialogue() === null || columns === null) return null
  const write = (text: string): void => io.stdout.write(text)
  let before: Promise<unknown> = Promise.resolve()

  const handOver = async ({ start, task, name, folder }: Borrower): Promise<ProcessEnd> => {
    const resume = suspend()
    const takeBack = keyboard.pause('program')
    const restoreModes = keepTerminalModes(io.env)
    const restore = (): void => {
      restoreModes()
      write(USUAL_SCREEN + USUAL_MODES + TITLE_BACK + freshLine(io.stdout.columns ?? columns))
    }
    const forget = io.atExit(restore)
    write(
      `${KEEP_TITLE}\u001b[2m${task} · ${name} · in ${folder} · ralph continues when you exit it\u001b[0m\r\n`,
    )
    try {
      return await start('handed-over').finished
    } finally {
      forget()
      restore()
      takeBack()
      resume()
    }
  }

  return {
    lend(borrower) {
      const mine = before.then(() => handOver(borrower))
      before = mine.catch(() => undefined)
      return mine
    },
  }
}

/** Leaves the alternate screen, if a program has not; does nothing on the usual one. */
const USUAL_SCREEN = '\u001b[?1047l'

/** Moves to the start of an empty line: this one if the cursor is at its start, else the next, which these blanks reach. */
function freshLine(columns: number): string {
  return `${' '.repeat(columns - 1)}\r\u001b[J`
}
