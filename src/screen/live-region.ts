import { stripVTControlCharacters } from 'node:util'
import { textWidth } from './printable.ts'

/** Makes the terminal show a frame at once; terminals that do not know it ignore it. */
const BEGIN = '\u001b[?2026h'
const END = '\u001b[?2026l'
/** Erases what is below the cursor, never what has scrolled away. */
const ERASE_BELOW = '\u001b[J'
const ERASE_TO_END = '\u001b[K'

/**
 * The last rows of a terminal, which change while all above stays. The cursor rests at the start of the last row, the only
 * place that is the same in every terminal after a resize.
 */
export class LiveRegion {
  /** Whether the terminal wraps lines again when its width changes; others cut them. */
  readonly #reflows: boolean
  #rows: readonly string[] = []
  #columns = 0

  constructor(reflows: boolean) {
    this.#reflows = reflows
  }

  /** What to write so that `kept` is above the rows, which are narrower than the terminal; empty if nothing changes. */
  frame(kept: string, rows: readonly string[], columns: number): string {
    const isSame = kept === '' && columns === this.#columns && rows.length === this.#rows.length
    const text = isSame ? this.#changed(rows) : this.#erased(columns) + kept + drawn(rows)
    this.#rows = rows
    this.#columns = columns
    return text === '' ? '' : BEGIN + text + END
  }

  /** Forgets where the rows are, because another program has written: the next frame begins below that. */
  forget(): void {
    this.#rows = []
  }

  /** Makes the next frame draw every row again, because something was typed over them. */
  refresh(): void {
    this.#columns = 0
  }

  /** Draws only the rows that have changed. */
  #changed(rows: readonly string[]): string {
    let [text, at] = ['', rows.length - 1]
    for (const [index, row] of rows.entries()) {
      if (row === this.#rows[index]) continue
      text += `${vertical(index - at)}${row}${ERASE_TO_END}\r`
      at = index
    }
    return text === '' ? '' : text + vertical(rows.length - 1 - at)
  }

  /** Erases the rows. In a terminal that has become narrower each may take several. */
  #erased(columns: number): string {
    if (this.#rows.length === 0) return ''
    const heights = this.#rows
      .slice(0, -1)
      .map((row) => (this.#reflows ? Math.ceil(textWidth(stripVTControlCharacters(row)) / columns) : 1))
    const above = heights.reduce((sum, height) => sum + Math.max(1, height), 0)
    return `\r${vertical(-above)}${ERASE_BELOW}`
  }
}

function drawn(rows: readonly string[]): string {
  return rows.length === 0 ? '' : `${rows.join('\n')}\r`
}

function vertical(rows: number): string {
  if (rows === 0) return ''
  return rows < 0 ? `\u001b[${-rows}A` : `\u001b[${rows}B`
}

/** Whether the terminal wraps lines again when its width changes, as nearly all do. */
export function reflowsLines(env: Readonly<Record<string, string | undefined>>): boolean {
  if (env['TMUX']) return true
  return !env['STY'] && !env['XTERM_VERSION'] && env['TERM'] !== 'linux'
}
