import xterm from '@xterm/headless'
import stringWidth from 'fast-string-width'

/** A terminal that nobody sits at: what is written to it, and what a person would see then. */
export type Screen = ReturnType<typeof openScreen>

export function openScreen(columns: number, rows: number) {
  const terminal = new xterm.Terminal({ cols: columns, rows, scrollback: 100_000, allowProposedApi: true })
  terminal.unicode.register(MODERN)
  terminal.unicode.activeVersion = MODERN.version
  let [written, title, bells] = ['', '', 0]
  terminal.onTitleChange((text) => void (title = text))
  terminal.onBell(() => void bells++)
  const settled = (): Promise<void> => new Promise((resolve) => terminal.write('', resolve))
  const rowsBetween = (from: number, to: number, joined: boolean): readonly string[] => {
    const { active } = terminal.buffer
    const lines: string[] = []
    for (let row = from; row < to; row++) {
      const line = active.getLine(row)
      if (!line) continue
      const goesOn = joined && active.getLine(row + 1)?.isWrapped === true && row + 1 < to
      const text = line.translateToString(!goesOn)
      if (joined && line.isWrapped && lines.length > 0) lines[lines.length - 1] += text
      else lines.push(text)
    }
    return lines
  }
  return {
    write(text: string | Uint8Array) {
      written += typeof text === 'string' ? text : Buffer.from(text).toString()
      // A terminal adds the carriage return itself.
      terminal.write(typeof text === 'string' ? text.replaceAll(/\r?\n/g, '\r\n') : text)
    },
    /** As a person drags the window's edge: what stands in it is reflowed. */
    async resize(to: number, height: number) {
      await settled()
      terminal.resize(to, height)
    },
    /** The rows that are seen, once all that was written is drawn; without blanks at their ends. */
    async frame() {
      await settled()
      const { baseY } = terminal.buffer.active
      return rowsBetween(baseY, baseY + terminal.rows, false)
    },
    /** The rows that have scrolled away, as lines: one that was broken at the edge is whole again. */
    async scrolledAway() {
      await settled()
      return rowsBetween(0, terminal.buffer.active.baseY, true)
    },
    /** Every line, those that are seen too. */
    async allLines() {
      await settled()
      return rowsBetween(0, terminal.buffer.active.length, true)
    },
    /** Whether the alternate screen is shown. */
    async isAlternate() {
      await settled()
      return terminal.buffer.active.type === 'alternate'
    },
    async cursor() {
      await settled()
      const { cursorX: column, cursorY: row } = terminal.buffer.active
      return { column, row }
    },
    title: () => title,
    bells: () => bells,
    /** All that was written. */
    written: () => written,
    /** The answers of the terminal, and the keys: as typed by a person. */
    onData: (listener: (text: string) => void) => void terminal.onData(listener),
  }
}

/** Emoji are two columns wide in every terminal of today; that of xterm.js alone is of an older Unicode. */
const MODERN: xterm.IUnicodeVersionProvider = {
  version: 'modern',
  wcwidth: widthOf,
  charProperties(code, preceding) {
    const before = (preceding >> 1) & 3
    const joins = widthOf(code) === 0 && preceding !== 0 && before !== 0
    return ((joins ? before : widthOf(code)) << 1) | (joins ? 1 : 0)
  },
}

function widthOf(code: number): 0 | 1 | 2 {
  const width = stringWidth(String.fromCodePoint(code))
  return width === 0 ? 0 : width === 1 ? 1 : 2
}

/** A frame as a golden file holds it. */
export function framed(rows: readonly string[], columns: number): string {
  const edge = '─'.repeat(columns)
  return [`┌${edge}┐`, ...rows.map((row) => `│${row}`), `└${edge}┘`, ''].join('\n')
}
