import { unreachable } from '../base/errors.ts'
import {
  lineOf,
  textOf,
  toneOf,
  withText,
  type Block,
  type Line,
  type Piece,
  type Spread,
  type View,
} from './block.ts'
import { cut, printable, textWidth, withoutJoiners } from './printable.ts'
import { paint, withAsciiSigns } from './style.ts'

/** What to lay blocks out for. If `columns` is null, nothing is cut or wrapped. */
export interface Canvas {
  readonly columns: number | null
  readonly colour: boolean
  /** Whether to draw signs in ASCII. */
  readonly ascii?: boolean
}

/** The blocks as text. */
export function layOut(blocks: View, canvas: Canvas): string {
  let text = ''
  for (const block of blocks)
    for (const line of linesOf(block, canvas.columns)) text += `${lineText(line, canvas)}\n`
  return text
}

/** The lines of the blocks, none wider than `columns`. */
export function linesOfBlocks(blocks: View, columns: number | null): readonly Line[] {
  return blocks.flatMap((block) => [...linesOf(block, columns)])
}

/** A line without control characters of its text; for a terminal, without what terminals show in different widths. */
export function lineText(line: Line, { columns, colour, ascii }: Canvas): string {
  let text = ''
  for (const piece of colour ? joinTones(line) : line) {
    const safe = printable(columns === null ? textOf(piece) : withoutJoiners(textOf(piece)))
    const tone = toneOf(piece)
    text += colour && tone ? paint(safe, tone) : safe
  }
  return ascii ? withAsciiSigns(text) : text
}

function linesOf(block: Block, columns: number | null): Iterable<Line> {
  switch (block.kind) {
    case 'line':
      return [fit(block.line, columns)]
    case 'spread':
      return spreadLines(block, columns)
    case 'hang':
      return hang(block, columns)
    case 'prose':
      return wrapped(block.head, [block.text], columns)
    case 'table':
      return tableLines(block, columns)
    default:
      return unreachable(block)
  }
}

/** Joins neighbours with the same tone into one piece, so that it is switched on and off once. */
function joinTones(line: Line): Line {
  const joined: Piece[] = []
  for (const piece of line) {
    const last = joined.at(-1)
    if (last !== undefined && toneOf(last) === toneOf(piece))
      joined[joined.length - 1] = withText(last, textOf(last) + textOf(piece))
    else joined.push(piece)
  }
  return joined
}

/** The number of columns of a line. */
export function lineWidth(line: Line): number {
  let width = 0
  for (const piece of line) width += textWidth(textOf(piece))
  return width
}

/** Cuts a line to a number of columns, with `…` at the cut; null cuts nothing. */
export function fit(line: Line, columns: number | null): Line {
  if (columns === null || lineWidth(line) <= columns) return line
  const kept: Piece[] = []
  let room = columns
  for (const [index, piece] of line.entries()) {
    const isLast = index === line.length - 1
    const text = textOf(piece)
    const width = textWidth(text)
    if (width > (isLast ? room : room - 1)) {
      kept.push(withText(piece, cut(isLast ? text : `${text}…`, room)))
      break
    }
    kept.push(piece)
    room -= width
  }
  return kept
}

/** Removes the blanks at a line's end. */
export function trimEnd(line: Line): Line {
  const end = line.findLastIndex((piece) => textOf(piece).trimEnd() !== '')
  const last = line[end]
  return last === undefined ? [] : [...line.slice(0, end), withText(last, textOf(last).trimEnd())]
}

/** The greatest width of a line with a part at its right edge: the eye cannot follow a wider gap. */
export const SPREAD_COLUMNS = 100

/** A line with a part at its right edge. */
function spreadLines({ left, right, oneLine }: Spread, columns: number | null): readonly Line[] {
  if (right.length === 0) return [fit(left, columns)]
  if (columns === null) return [[...left, '  ', ...right]]
  const rightWidth = lineWidth(right)
  const shown = oneLine ? fit(left, Math.max(0, columns - rightWidth - 2)) : left
  const room = Math.min(columns, SPREAD_COLUMNS) - lineWidth(shown) - rightWidth
  if (room >= 2) return [[...shown, ' '.repeat(room), ...right]]
  if (oneLine) return [fit([...shown, '  ', ...right], columns)]
  return [fit(left, columns), fit(['       ', ...right], columns)]
}

/** Words after a head, wrapped below each other where the terminal ends. */
function hang(
  { head, words, gap }: Pick<Extract<Block, { kind: 'hang' }>, 'head' | 'words' | 'gap'>,
  columns: number | null,
): readonly Line[] {
  const indent = lineWidth(head)
  const lines: Piece[][] = [[...head]]
  let used = indent
  let isFirst = true
  for (const word of words) {
    const width = lineWidth(word)
    if (!isFirst && columns !== null && used + gap.length + width > columns) {
      lines.push([' '.repeat(indent)])
      used = indent
      isFirst = true
    }
    lines.at(-1)!.push(...(isFirst ? [] : [withText(word[0] ?? '', gap)]), ...word)
    used += (isFirst ? 0 : gap.length) + width
    isFirst = false
  }
  return lines.map((line) => fit(trimEnd(line), columns))
}

/** A line wrapped at its blanks, below a head. */
function wrapped(head: Line, text: Line, columns: number | null): readonly Line[] {
  const whole = text.every((piece) => textOf(piece) === '') ? trimEnd(head) : [...head, ...text]
  if (columns === null || lineWidth(whole) <= columns) return [whole]
  const words = text.flatMap((piece) =>
    textOf(piece)
      .split(' ')
      .filter(Boolean)
      .map((word): Line => [withText(piece, word)]),
  )
  return hang({ head, words, gap: ' ' }, columns)
}

type Table = Extract<Block, { kind: 'table' }>

/** The least width of a shrunk column. */
const LEAST_SHRUNK = 16
const LEAST_WRAPPED = 20
/** The width at which a shrunk column stays readable, if another column can wrap and has enough room. */
const READABLE = 36
const FOR_OTHERS = 44

/** A cell, and the number of its columns. */
interface Measured {
  readonly line: Line
  readonly width: number
}

/** The rows as lines with aligned cells. */
function* tableLines(table: Table, columns: number | null): Iterable<Line> {
  const { indent, wrap } = table
  const rows = table.rows.map((row) => ('kind' in row ? row : row.map((cell) => measured(lineOf(cell)))))
  const widths = columnWidths(rows)
  if (columns !== null) narrow(widths, table, columns)
  for (const row of rows) {
    if ('kind' in row) yield* spreadLines(row, columns)
    else if (row.every(({ width }, index) => width <= widths[index]!))
      yield fit(aligned(row, widths, indent), columns)
    else {
      const cells = row.map((cell, index) => {
        const width = widths[index]!
        if (cell.width <= width) return [cell]
        return (index === wrap ? wrapped([], cell.line, width) : [fit(cell.line, width)]).map(measured)
      })
      const height = Math.max(...cells.map((lines) => lines.length))
      for (let at = 0; at < height; at++) {
        const parts = cells.map((lines) => lines[at] ?? measured([]))
        yield fit(aligned(parts, widths, indent), columns)
      }
    }
  }
}

function measured(line: Line): Measured {
  return { line, width: lineWidth(line) }
}

function aligned(cells: readonly Measured[], widths: readonly number[], indent: string): Line {
  const padded = cells.flatMap(({ line, width }, index) => {
    return [...line, ' '.repeat(Math.max(0, widths[index]! - width) + 2)]
  })
  return trimEnd([indent, ...padded])
}

function columnWidths(rows: readonly (Spread | readonly Measured[])[]): number[] {
  const widths: number[] = []
  for (const row of rows) {
    if ('kind' in row) continue
    for (const [index, { width }] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, width)
  }
  return widths
}

/** Shrinks columns as far as possible. */
function narrow(widths: number[], { shrink = [], wrap, indent }: Table, columns: number): void {
  const over = (): number => indent.length + widths.reduce((sum, width) => sum + width + 2, -2) - columns
  const widthAt = (column: number | undefined): number => (column === undefined ? 0 : (widths[column] ?? 0))
  const readable = Math.max(LEAST_SHRUNK, Math.min(READABLE, columns - FOR_OTHERS))
  const least = wrap === undefined ? LEAST_SHRUNK : readable
  for (let excess = over(); excess > 0; excess = over()) {
    const [widest, next] = shrink.toSorted((a, b) => widthAt(b) - widthAt(a))
    if (widest === undefined || widthAt(widest) <= least) break
    // Shrinks the widest to the next one's width, and from there on both.
    const spare = widthAt(widest) - Math.max(widthAt(next), least)
    widths[widest] = widthAt(widest) - Math.max(1, Math.min(excess, spare))
  }
  if (wrap !== undefined && widthAt(wrap) > LEAST_WRAPPED)
    widths[wrap] = Math.max(LEAST_WRAPPED, widthAt(wrap) - Math.max(0, over()))
}
