import { keepTerminalModes } from '../../process/terminal-modes.ts'
import type { Terminal } from '../../process/terminal.ts'
import type { Io } from '../io.ts'

/** What takes what shows the run off the terminal; it returns what brings it back. */
export type Suspend = () => () => void

/** The terminal of a run, which is handed over whole; null where there is none. */
export function openTerminal(
  io: Pick<Io, 'keyboard' | 'stdout' | 'env'>,
  suspend: Suspend,
): Terminal | null {
  const keyboard = io.keyboard()
  if (keyboard === null) return null
  return {
    async lend({ start }) {
      const resume = suspend()
      const takeBack = keyboard.pause('program')
      const restoreModes = keepTerminalModes(io.env)
      try {
        return await start('handed-over').finished
      } finally {
        restoreModes()
        io.stdout.write(USUAL)
        takeBack()
        resume()
      }
    },
  }
}

/** What a program of a terminal may leave switched on, or off: the other screen, the cursor, colours, the mouse, pasting, focus, its own keyboard. */
const USUAL =
  '\u001b[?1047l\u001b[?25h\u001b[0m\u001b[?1000l\u001b[?1002l\u001b[?1003l\u001b[?1006l\u001b[?2004l\u001b[?1004l\u001b[<u'
