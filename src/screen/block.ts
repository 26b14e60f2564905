/** The meaning of a text's colour: accent for what is active, good and bad for checked results only; or a team's own colour. */
export type Tone = 'strong' | 'dim' | 'accent' | 'good' | 'bad' | Colour

/** A colour from a discipline's file: `#e07a5f`. */
type Colour = `#${string}`

/** Text in one tone. */
export interface Toned {
  readonly text: string
  readonly tone: Tone
}

/** Text in one tone; a bare string is plain. */
export type Piece = string | Toned

export type Line = readonly Piece[]

/**
 * The elements of a view. A view says what to show; layout decides where, so that nothing is wider than the terminal
 * and no text from a file can control it.
 */
export type Block =
  /** One line, cut at the terminal's edge. */
  | { readonly kind: 'line'; readonly line: Line }
  /** A line with a part at the right edge, which goes below if both do not fit. */
  | Spread
  /** Words after a head, wrapped below each other: `after    T-001 ✓  T-003 ✓`. */
  | { readonly kind: 'hang'; readonly head: Line; readonly words: readonly Line[]; readonly gap: string }
  /** A sentence after a head, wrapped at words below it if it does not fit. */
  | { readonly kind: 'prose'; readonly head: Line; readonly text: Piece }
  /**
   * Cells in aligned columns, two blanks apart. In a narrow terminal the `shrink` columns are cut first, the widest
   * most; if that is not enough, the `wrap` column wraps below itself.
   */
  | {
      readonly kind: 'table'
      readonly rows: readonly Row[]
      readonly shrink?: readonly number[]
      readonly wrap?: number
      readonly indent: string
    }

/** All that a view shows. */
export type View = readonly Block[]

/** The cells of one row, or a line across the whole table. */
export type Row = readonly Cell[] | Spread

/** The content of a cell, usually one piece. */
export type Cell = Piece | Line

/** A line with a part at the right edge. */
export interface Spread {
  readonly kind: 'spread'
  readonly left: Line
  readonly right: Line
  /** Whether to cut the left part if both do not fit, instead of a second line. */
  readonly oneLine?: boolean
}

/** One line of text. */
export function line(...pieces: readonly Piece[]): Block {
  return { kind: 'line', line: pieces }
}

/** A line with a part at its right edge. */
export function spread(left: Line, right: Line = []): Spread {
  return { kind: 'spread', left, right }
}

/** Cells in aligned columns; nothing without rows. */
export function table(
  rows: readonly Row[],
  { indent = '  ', ...how }: { shrink?: number[]; wrap?: number; indent?: string },
): View {
  return rows.length === 0 ? [] : [{ kind: 'table', rows, indent, ...how }]
}

/** An empty line. */
export const BLANK: Block = { kind: 'line', line: [] }

/** Blocks below an empty line and a heading; nothing if there are none. */
export function section(heading: string, blocks: View): View {
  if (blocks.length === 0) return []
  return [BLANK, ...(heading === '' ? [] : [line(strong(heading))]), ...blocks]
}

/** The first of many things, and how many more there are. */
export function first<T>(items: readonly T[], most: number, show: (item: T) => Block): View {
  const more = items.length - most
  return [...items.slice(0, most).map(show), ...(more > 0 ? [line(dim(`and ${more} more`))] : [])]
}

/** Facts after a head with dots between, wrapped between them; those that do not apply are left out. */
export function facts(head: Line, parts: readonly (string | false | null)[], tone?: Tone): Block {
  const words = parts
    .filter(Boolean)
    .join(' ·\n')
    .split('\n')
    .map((word): Line => [tone ? { text: word, tone } : word])
  return { kind: 'hang', head, words, gap: ' ' }
}

/** The parts that apply, with dots between. */
export function dotted(...parts: readonly (string | false | null | undefined)[]): string {
  return parts.filter(Boolean).join(' · ')
}

/** A sentence after a head, wrapped at words below it. */
export function paragraph(head: Line, text: string, tone?: Tone): Block {
  const words = text.replaceAll(/\s+/g, ' ').trim()
  return { kind: 'prose', head, text: tone ? { text: words, tone } : words }
}

/** A warning, which stops nothing. */
export function warningBlock(message: string): Block {
  return paragraph([strong('warning'), ' '], message)
}

export const strong = (text: string): Toned => ({ text, tone: 'strong' })
export const dim = (text: string): Toned => ({ text, tone: 'dim' })
export const accent = (text: string): Toned => ({ text, tone: 'accent' })
export const good = (text: string): Toned => ({ text, tone: 'good' })
export const bad = (text: string): Toned => ({ text, tone: 'bad' })

/** Text in a colour from a file; plain if that is not of the form `#e07a5f`. */
export function coloured(text: string, colour: string | null): Piece {
  const [, digits] = /^#([0-9a-f]{6})$/i.exec(colour ?? '') ?? []
  return digits === undefined ? text : { text, tone: `#${digits}` }
}

/** The block with something before its first line, and its other lines below that; a table is only indented. */
export function headed(head: Line, block: Block): Block {
  switch (block.kind) {
    case 'line':
      return { ...block, line: [...head, ...block.line] }
    case 'spread':
      return { ...block, left: [...head, ...block.left] }
    case 'hang':
    case 'prose':
      return { ...block, head: [...head, ...block.head] }
    case 'table':
      return { ...block, indent: ' '.repeat(head.map(textOf).join('').length) + block.indent }
  }
}

/** A cell as a line. */
export function lineOf(cell: Cell): Line {
  return typeof cell === 'string' || 'text' in cell ? [cell] : cell
}

/** The text of a piece. */
export function textOf(piece: Piece): string {
  return typeof piece === 'string' ? piece : piece.text
}

/** The tone of a piece; undefined for a plain one. */
export function toneOf(piece: Piece): Tone | undefined {
  return typeof piece === 'string' ? undefined : piece.tone
}

/** The same tone with another text. */
export function withText(piece: Piece, text: string): Piece {
  return typeof piece === 'string' ? text : { text, tone: piece.tone }
}
