import { openPane, type Pane } from '../../process/pane.ts'
import { openPty, type Pty } from '../../process/pty.ts'
import type { ProcessEnd } from '../../process/start.ts'
import { sendSignal } from '../../process/tree.ts'
import { keepTerminalModes } from '../../process/terminal-modes.ts'
import type { Borrower, Guest, PersonTerminal, Size } from '../../process/terminal.ts'
import { KEEP_TITLE, TITLE_BACK, USUAL_MODES } from '../../ui/usual-modes.ts'
import type { Io } from '../io.ts'

/** What a lent terminal uses of the run. */
interface Lending {
  /** Removes the view of the run from the terminal; the returned function shows it again. */
  readonly suspend: () => () => void
  /** Shows the person a text, between the lines of the run. */
  readonly say: (text: string) => void
  /** The key that returns to the run's screen while the program continues: `ctrl-]`. */
  readonly detachKey: string
}

/** The terminal of a run; null if there is none, or if nothing can be drawn on it. */
export function openPersonTerminal(io: Io, lending: Lending): PersonTerminal | null {
  const [keyboard, dialogue] = [io.keyboard(), io.dialogue()]
  if (keyboard === null || dialogue === null || io.stdout.columns === null) return null
  const { input } = dialogue
  const { suspend, say, detachKey } = lending
  const write = (text: string | Uint8Array): void => io.stdout.write(text)
  const size = (): Size => ({ columns: io.stdout.columns ?? 80, rows: io.stdout.rows ?? 24 })
  const guests = new Map<string, Seat>()

  const handOver = async ({ start }: Borrower): Promise<ProcessEnd> => {
    const resume = suspend()
    const takeBack = keyboard.pause('program')
    const restoreModes = keepTerminalModes(io.env)
    const restore = (): void => {
      restoreModes()
      write(USUAL_SCREEN + USUAL_MODES + TITLE_BACK + freshLine(size()))
    }
    const forget = io.atExit(restore)
    write(KEEP_TITLE)
    try {
      return await start('handed-over').finished
    } finally {
      forget()
      restore()
      takeBack()
      resume()
    }
  }

  /** Shows the program to the person, until they leave it. */
  const attach = async (seat: Seat): Promise<void> => {
    const { pty, pane } = seat
    // The program's output must be drawn before it is shown: from there on both screens are the same.
    await pane.settled()
    if (seat.isAttached || seat.hasEnded) return
    const resume = suspend()
    const takeBack = keyboard.pause('program')
    const keys = (chunk: Buffer): void => {
      const at = detachAt(chunk, detachKey)
      pty.stream.write(at === null ? chunk : chunk.subarray(0, at))
      if (at !== null) void pane.settled().then(() => seat.detach?.('away'))
    }
    const fit = (): void => seat.resize(size())
    const hide = (): void => write(leaving(pane) + USUAL_MODES + TITLE_BACK)
    const enter = (): void => {
      // First: until then the terminal makes a signal of a Ctrl-C, which nobody takes while a program is lent it.
      input.setRawMode(true)
      input.on('data', keys).resume()
      write(KEEP_TITLE + clearance(size()))
      fit()
      write((pane.isAlternate ? OTHER_SCREEN : '') + pane.repaint())
      seat.isShown = true
    }
    const leave = (): void => {
      seat.isShown = false
      input.off('data', keys).pause()
      input.setRawMode(false)
      hide()
    }
    const forget = [
      io.stdout.onResize(fit),
      io.atExit(() => seat.isShown && hide()),
      // Listens only for ralph's own stop and continuation, not for keys.
      keyboard.listen(({ name }) => {
        if (name === 'suspend') leave()
        else if (name === 'resume' && !seat.isShown) enter()
      }),
    ]
    enter()
    // A program that has stopped itself has no shell that would continue it.
    seat.goOn()
    seat.detach = (why) => {
      seat.detach = null
      if (seat.isShown) leave()
      for (const one of forget) one()
      takeBack()
      resume()
      if (why === 'away') say(`${seat.name} goes on without you: i brings it back`)
    }
  }

  const seated = async (borrower: Borrower, pty: Pty): Promise<ProcessEnd> => {
    const { task, name } = borrower
    const seat = makeSeat(name, pty, await openPane(size()))
    const { pane } = seat
    const running = borrower.start(pty)
    const { pid } = running
    if (pid !== undefined) seat.goOn = () => sendSignal(-pid, 'SIGCONT')
    pty.stream.on('data', (chunk: Buffer) => {
      pane.write(chunk)
      if (seat.isShown) write(chunk)
    })
    // While the person watches, their own terminal answers.
    pane.onReply((text) => seat.isAttached || pty.stream.write(text))
    pane.write(Buffer.from(`\u001b[2m${task} · ${name} · ${detachKey} brings ralph back\u001b[0m\r\n`))
    guests.set(task, seat)
    await attach(seat)
    try {
      return await running.finished
    } finally {
      seat.hasEnded = true
      await pane.settled()
      seat.detach?.('ended')
      guests.delete(task)
      pane.close()
    }
  }

  return {
    async lend(borrower) {
      const pty = await openPty(size())
      if (!('problem' in pty)) return seated(borrower, pty)
      say(`there is no way back to this screen before you leave ${borrower.name}: ${pty.problem}`)
      return handOver(borrower)
    },
    attach(task) {
      const seat = guests.get(task)
      if (!seat) return `${task} has no program that you could go back to`
      void attach(seat)
      return null
    },
    guest: (task) => guests.get(task) ?? null,
  }
}

/** A program in its own terminal, and what makes the person leave it while they watch it. */
interface Seat extends Guest {
  readonly pty: Pty
  detach: ((why: 'away' | 'ended') => void) | null
  hasEnded: boolean
  /** Whether the terminal shows it; false while ralph itself is stopped. */
  isShown: boolean
  goOn: () => void
}

function makeSeat(name: string, pty: Pty, pane: Pane): Seat {
  return {
    name,
    pty,
    pane,
    detach: null,
    hasEnded: false,
    isShown: false,
    goOn: () => undefined,
    get isAttached() {
      return this.detach !== null
    },
    resize(to) {
      const { columns, rows } = pane.size
      if (to.columns === columns && to.rows === rows) return
      pane.resize(to)
      pty.resize(to)
    },
  }
}

const CSI = '\u001b['
const OTHER_SCREEN = `${CSI}?1049h${CSI}2J`
/** Leaves the alternate screen, if a program has not; does nothing on the usual one. */
const USUAL_SCREEN = `${CSI}?1047l`

/** Scrolls the screen's content away, so that the program's first row is the first one here. */
function clearance({ rows }: Size): string {
  return `\r${'\n'.repeat(rows - 1)}${CSI}H`
}

/** Moves to the start of an empty line: this one if the cursor is at its start, else the next, which these blanks reach. */
function freshLine({ columns }: Size): string {
  return `${' '.repeat(columns - 1)}\r${CSI}J`
}

/** Moves below all that the program has drawn. */
function leaving(pane: Pane): string {
  if (pane.isAlternate) return `${CSI}?1049l`
  const last = Math.max(
    pane.cursor.column === 0 ? pane.cursor.row - 1 : pane.cursor.row,
    pane.rows().findLastIndex((spans) => spans.length > 0),
  )
  return `${CSI}0m${CSI}${Math.max(0, last) + 1};1H\r\n`
}

/** The position of the detach key in what was typed; null if it was not pressed. */
function detachAt(chunk: Buffer, key: string): number | null {
  const letter = key.slice(-1).toLowerCase()
  const code = letter.charCodeAt(0)
  // As a control character, and as terminals with extended keys report it.
  const spellings = [String.fromCharCode(code & 0x1f), `${CSI}${code};5u`, `${CSI}27;5;${code}~`]
  const found = spellings.map((spelling) => chunk.indexOf(spelling)).filter((at) => at >= 0)
  return found.length === 0 ? null : Math.min(...found)
}
