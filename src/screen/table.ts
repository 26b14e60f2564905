import { lineOf, type Block, type Line, type Piece, type Row } from './block.ts'
import { fit, lineWidth, spreadLines, trimEnd, wrapped } from './wrap.ts'

type Table = Extract<Block, { kind: 'table' }>

/** The least width of a shrunk column. */
const LEAST_SHRUNK = 16
const LEAST_WRAPPED = 20
/** The width at which a shrunk column stays readable, if another column can wrap and has enough room. */
const READABLE = 36
const FOR_OTHERS = 44

/** The rows as lines with aligned cells. */
export function* tableLines(table: Table, columns: number | null): Iterable<Line> {
  const { rows, indent, wrap } = table
  const widths = columnWidths(rows)
  if (columns !== null) narrow(widths, table, columns)
  for (const row of rows) {
    if ('kind' in row) {
      yield* spreadLines(row, columns)
      continue
    }
    const cells = row.map((cell, index) => {
      const [line, width] = [lineOf(cell), widths[index]!]
      if (lineWidth(line) <= width) return [line]
      return index === wrap ? wrapped([], line, width) : [fit(line, width)]
    })
    const height = Math.max(...cells.map((lines) => lines.length))
    for (let at = 0; at < height; at++) {
      const parts = cells.map((lines) => lines[at] ?? [])
      yield fit(aligned(parts, widths, indent), columns)
    }
  }
}

function aligned(cells: readonly Line[], widths: readonly number[], indent: string): Line {
  const pieces: Piece[] = []
  let gap = indent.length
  for (const [index, cell] of cells.entries()) {
    const width = lineWidth(cell)
    if (width > 0) {
      pieces.push(' '.repeat(gap), ...cell)
      gap = 0
    }
    gap += Math.max(2, widths[index]! - width + 2)
  }
  return trimEnd(pieces)
}

function columnWidths(rows: readonly Row[]): number[] {
  const widths: number[] = []
  for (const row of rows) {
    if ('kind' in row) continue
    for (const [index, cell] of row.entries())
      widths[index] = Math.max(widths[index] ?? 0, lineWidth(lineOf(cell)))
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
