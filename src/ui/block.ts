/** How a piece of text is meant: one accent for what is alive, good and bad for checked results only; or a team's own colour. */
export type Tone = 'strong' | 'dim' | 'accent' | 'good' | 'bad' | Colour

/** As a discipline's file gives one: `#e07a5f`. */
type Colour = `#${string}`

/** Text in one tone. A bare string is plain. */
export type Piece = string | { readonly text: string; readonly tone: Tone }

export type Line = readonly Piece[]

/**
 * What a view is made of. A view says what there is to see; layout decides where it goes, so that nothing is ever wider
 * than the terminal and nothing that a file says can steer it.
 */
export type Block =
  /** One line, cut at the terminal's edge. */
  | { readonly kind: 'line'; readonly line: Line }
  /** A line with something at the right edge, which goes below where both do not fit. */
  | Spread
  /** Words after a head, wrapped below themselves: `after    T-001 ✓  T-003 ✓`. */
  | { readonly kind: 'hang'; readonly head: Line; readonly words: readonly Line[]; readonly gap: string }
  /** A sentence that wraps below its head, word by word: taken apart only where it does not fit. */
  | { readonly kind: 'prose'; readonly head: Line; readonly text: Piece }
  /**
   * Cells in aligned columns, two blanks apart. In a narrow terminal the `shrink` columns are cut first, the widest
   * most; where that is not enough the `wrap` column goes on below itself; where even that is not, the last column,
   * `fold`, goes on after it.
   */
  | {
      readonly kind: 'table'
      readonly rows: readonly Row[]
      readonly shrink?: readonly number[]
      readonly wrap?: number
      readonly fold?: number
      readonly indent: string
    }

/** The cells of one row, or a line across the whole table. */
export type Row = readonly Cell[] | Spread

/** What stands in a column: mostly one piece. */
export type Cell = Piece | Line

/** A line with something at the right edge. */
export interface Spread {
  readonly kind: 'spread'
  readonly left: Line
  readonly right: Line
  /** Where both do not fit, the left is cut instead of the right going below: for what must stay one line. */
  readonly oneLine?: boolean
}

/** One line of text. */
export function line(...pieces: readonly Piece[]): Block {
  return { kind: 'line', line: pieces }
}

/** An empty line. */
export const BLANK: Block = { kind: 'line', line: [] }

/** A sentence that wraps below its head, word by word. */
export function paragraph(head: Line, text: string, tone?: Tone): Block {
  const words = text.replaceAll(/\s+/g, ' ').trim()
  return { kind: 'prose', head, text: tone ? { text: words, tone } : words }
}

export const strong = (text: string): Piece => ({ text, tone: 'strong' })
export const dim = (text: string): Piece => ({ text, tone: 'dim' })
export const accent = (text: string): Piece => ({ text, tone: 'accent' })
export const good = (text: string): Piece => ({ text, tone: 'good' })
export const bad = (text: string): Piece => ({ text, tone: 'bad' })

/** Text in a colour as a person writes it; plain where that is none of `#e07a5f`. */
export function coloured(text: string, colour: string | null): Piece {
  const [, digits] = /^#([0-9a-f]{6})$/i.exec(colour ?? '') ?? []
  return digits === undefined ? text : { text, tone: `#${digits}` }
}

/** Whether a cell is one piece. */
export function isPiece(cell: Cell): cell is Piece {
  return !Array.isArray(cell)
}

/** A cell as a line. */
export function lineOf(cell: Cell): Line {
  return isPiece(cell) ? [cell] : cell
}

/** What a piece says, whatever its tone. */
export function textOf(piece: Piece): string {
  return typeof piece === 'string' ? piece : piece.text
}

/** The tone of a piece; undefined for a plain one. */
export function toneOf(piece: Piece): Tone | undefined {
  return typeof piece === 'string' ? undefined : piece.tone
}

/** The same tone, another text. */
export function withText(piece: Piece, text: string): Piece {
  return typeof piece === 'string' ? text : { text, tone: piece.tone }
}
