import { keepTerminalModes } from '../../process/terminal-modes.ts'
import type { Terminal } from '../../process/terminal.ts'
import type { Dialogue, Io } from '../io.ts'

/** What takes what shows the run off the terminal; it returns what brings it back. */
export type Suspend = () => () => void

/** The terminal of a run, which is handed over whole; null where there is none. */
export function openTerminal(
  { io, dialogue }: { readonly io: Io; readonly dialogue: Dialogue | null },
  suspend: Suspend,
): Terminal | null {
  if (dialogue === null || io.stdout.columns === null) return null
  const { input } = dialogue
  return {
    async lend({ start }) {
      const resume = suspend()
      if (input.isRaw) input.setRawMode(false)
      input.pause()
      const restoreModes = keepTerminalModes(io.env)
      // Ctrl-C reaches the whole group: meanwhile it is the program's alone.
      const takeBack = io.lendInterrupts()
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
