import { textOf, withText, type Line, type Piece } from '../block.ts'
import { lineText, type Canvas, fit } from '../layout.ts'
import { isNarrow, printable } from '../printable.ts'
import { USUAL_MODES } from '../style.ts'

/** A part of a row: a number of columns from a first one, counted from 0. Its content never reaches beyond. */
interface Segment {
  readonly at: number
  readonly width: number
  readonly line: Line
}

/** One row of the screen: its segments from left to right. */
export type FrameRow = readonly Segment[]

/** The content of a full screen at one moment. */
export interface Frame {
  readonly columns: number
  readonly rows: readonly FrameRow[]
  /** The position of the text cursor; null if nobody types. */
  readonly cursor: { readonly row: number; readonly column: number } | null
}

/**
 * Switches to the alternate screen, without cursor and wrapping, and with marks around pasted text. A program that was killed
 * may have left the terminal in any state.
 */
export const ENTER = USUAL_MODES + '\u001b[?1049h\u001b[?25l\u001b[?7l\u001b[?2004h'
/** Undoes all of that. Ends a frame first, because the program may have stopped within one. */
export const LEAVE = '\u001b[?2026l\u001b[0m\u001b[?2004l\u001b[?7h\u001b[?25h\u001b[?1049l'

const BEGIN_FRAME = '\u001b[?2026h'
const END_FRAME = '\u001b[?2026l'
const CLEAR = '\u001b[2J'
const CLEAR_LINE = '\u001b[2K'
const SHOW_CURSOR = '\u001b[?25h'
const HIDE_CURSOR = '\u001b[?25l'

interface Painted {
  readonly at: number
  readonly width: number
  readonly text: string
  /** Whether the terminal may show its characters wider or narrower than counted here. */
  readonly isOdd: boolean
}

/**
 * Makes the output for frames: only the segments that have changed, each at its own position, within
 * synchronised output. It depends neither on the terminal's cursor nor on the width that the terminal gives a character.
 */
export class Painter {
  readonly #look: Pick<Canvas, 'colour' | 'ascii'>
  /** The content of each row; null if unknown. */
  #shown: (readonly Painted[])[] | null = null
  #columns = 0
  #cursor = ''

  constructor(look: Pick<Canvas, 'colour' | 'ascii'>) {
    this.#look = look
  }

  /** Forgets the screen, because another program has used it, or its size has changed: the next frame is painted whole. */
  forget(): void {
    this.#shown = null
  }

  /** The output that makes the frame visible; empty if it is visible already. */
  paint(frame: Frame): string {
    const isNew = this.#shown === null || this.#columns !== frame.columns
    const before = isNew || this.#shown?.length !== frame.rows.length ? [] : (this.#shown ?? [])
    const isCleared = before.length === 0
    let changes = isCleared ? CLEAR : ''
    const shown = frame.rows.map((row, index) => {
      const painted = row.map((segment) => this.#painted(segment))
      changes += rowChanges(painted, before[index] ?? (isCleared ? [] : undefined), index)
      return painted
    })
    this.#shown = shown
    this.#columns = frame.columns
    const cursor = cursorText(frame.cursor)
    if (changes === '' && cursor === this.#cursor) return ''
    this.#cursor = cursor
    return BEGIN_FRAME + changes + cursor + END_FRAME
  }

  #painted({ at, width, line }: Segment): Painted {
    const fitted = fit(line.map(calmed), width)
    const isOdd = fitted.some((piece) => !isNarrow(textOf(piece)))
    return { at, width, text: lineText(fitted, { columns: width, ...this.#look }), isOdd }
  }
}

/** Replaces control characters by a sign, and removes long series of combining marks, which would reach into other rows. */
function calmed(piece: Piece): Piece {
  const text = textOf(piece)
  return isNarrow(text) ? piece : withText(piece, printable(text).replace(/(\p{M}{2})\p{M}+/gu, '$1'))
}

/** The output that changes a row; there may have been no row before. */
function rowChanges(now: readonly Painted[], before: readonly Painted[] | undefined, row: number): string {
  const isEmpty = before?.length === 0
  const isLikeBefore =
    before?.length === now.length &&
    now.every(({ at, width }, index) => before[index]!.at === at && before[index]!.width === width)
  let changes = isLikeBefore || isEmpty ? '' : `${placed(row, 0)}${CLEAR_LINE}`
  // A segment that is wider than counted has overwritten what follows it on the row.
  let isSpoilt = false
  for (const [index, segment] of now.entries()) {
    const old = isLikeBefore ? before[index] : undefined
    if (!isSpoilt && old?.text === segment.text) continue
    const erase = isSpoilt || (old && old.text !== '') ? `\u001b[${segment.width}X` : ''
    if (erase !== '' || segment.text !== '') changes += placed(row, segment.at) + erase + segment.text
    if (segment.isOdd || old?.isOdd) isSpoilt = true
  }
  return changes
}

function placed(row: number, column: number): string {
  return `\u001b[${row + 1};${column + 1}H`
}

function cursorText(cursor: Frame['cursor']): string {
  return cursor === null ? HIDE_CURSOR : placed(cursor.row, cursor.column) + SHOW_CURSOR
}
