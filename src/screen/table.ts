import {
  isPiece,
  lineOf,
  textOf,
  withText,
  type Block,
  type Cell,
  type Line,
  type Piece,
  type Row,
  type Spread,
} from './block.ts'
import { fit, trimEnd, widthOf } from './fit.ts'
import { hang } from './hang.ts'
import type { Measure } from './width.ts'

type Table = Extract<Block, { kind: 'table' }>

/** The least width of a shrunk column. */
const LEAST_SHRUNK = 16
const LEAST_WRAPPED = 20
/** The width at which a shrunk column stays readable, if another column can wrap and has enough room. */
const READABLE = 36
const FOR_OTHERS = 44

/** Lays out a line with a part at the right edge. */
type LayOutSpread = (row: Spread, columns: number | null, measure: Measure) => readonly Line[]

/** The rows as lines with aligned cells; rows across the whole table are laid out by `spread`. */
export function* tableLines(
  table: Table,
  columns: number | null,
  measure: Measure,
  layOutSpread: LayOutSpread,
): Iterable<Line> {
  const { rows, indent } = table
  const widths = columnWidths(rows, measure)
  if (columns !== null && narrow(widths, table, columns) > 0 && table.fold !== undefined) {
    yield* tableLines(folded(table), columns, measure, layOutSpread)
    return
  }
  for (const row of rows) {
    if ('kind' in row) yield* layOutSpread(row, columns, measure)
    else if (columns === null) yield aligned(row, widths, { indent, measure })
    else {
      const cells = row.map((cell, index) =>
        cellLines(cell, index, { table, width: widths[index] ?? 0, measure }),
      )
      const height = Math.max(...cells.map((lines) => lines.length))
      for (let at = 0; at < height; at++) {
        const parts = cells.map((lines) => lines[at] ?? [])
        yield fit(aligned(parts, widths, { indent, measure }), columns, measure)
      }
    }
  }
}

interface Margin {
  readonly indent: string
  readonly measure: Measure
}

function aligned(cells: readonly Cell[], widths: readonly number[], { indent, measure }: Margin): Line {
  const pieces: Piece[] = []
  let gap = indent.length
  for (let i = 0; i < cells.length; i++) {
    const cell = cells[i]!
    const width = widthOf(cell, measure)
    if (width > 0) {
      if (gap > 0) pieces.push(' '.repeat(gap))
      if (isPiece(cell)) pieces.push(cell)
      else pieces.push(...cell)
      gap = 0
    }
    gap += Math.max(2, (widths[i] ?? 0) - width + 2)
  }
  return trimEnd(pieces)
}

function columnWidths(rows: readonly Row[], measure: Measure): number[] {
  const widths: number[] = []
  for (const row of rows) {
    if ('kind' in row) continue
    for (let i = 0; i < row.length; i++) widths[i] = Math.max(widths[i] ?? 0, widthOf(row[i]!, measure))
  }
  return widths
}

/** The table with its last column moved behind the one that wraps. */
function folded({ rows, fold, wrap, ...rest }: Table): Table {
  const merged = rows.map((row): Row => {
    if ('kind' in row || row[fold!] === undefined) return row
    return row
      .slice(0, fold)
      .map((cell, at) => (at === wrap ? [...lineOf(cell), ' ', ...lineOf(row[fold!]!)] : cell))
  })
  return { ...rest, rows: merged, ...(wrap === undefined ? {} : { wrap }) }
}

/** Shrinks columns as far as possible, and returns how much too wide they still are. */
function narrow(widths: number[], { shrink = [], wrap, indent }: Table, columns: number): number {
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
  if (wrap !== undefined && widthAt(wrap) > LEAST_WRAPPED) {
    widths[wrap] = Math.max(LEAST_WRAPPED, widthAt(wrap) - Math.max(0, over()))
  }
  return over()
}

interface CellRoom {
  readonly table: Table
  readonly width: number
  readonly measure: Measure
}

function cellLines(cell: Cell, index: number, { table, width, measure }: CellRoom): readonly Line[] {
  const line = lineOf(cell)
  if (widthOf(line, measure) <= width) return [line]
  if (index !== table.wrap) return [fit(line, width, measure)]
  const words = line.flatMap((piece) =>
    textOf(piece)
      .split(' ')
      .filter(Boolean)
      .map((word): Line => [withText(piece, word)]),
  )
  return hang({ kind: 'hang', head: [], words, gap: ' ' }, width, measure)
}
