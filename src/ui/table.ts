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

/** What a column keeps, however narrow the terminal. */
const LEAST_SHRUNK = 16
const LEAST_WRAPPED = 20
/** Where another column can go on below itself, a shrunk one stays readable, if that leaves so much for the others. */
const READABLE = 36
const FOR_OTHERS = 44

/** How a line with something at the right edge is laid out. */
type LayOutSpread = (row: Spread, columns: number | null, measure: Measure) => readonly Line[]

/** The rows as lines with their cells aligned, one after the other; what stands across the table is laid out as it is elsewhere. */
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

/** The table without its last column, what stands there put behind what wraps. */
function folded({ rows, fold, wrap, ...rest }: Table): Table {
  const merged = rows.map((row): Row => {
    if ('kind' in row || row[fold!] === undefined) return row
    return row
      .slice(0, fold)
      .map((cell, at) => (at === wrap ? [...lineOf(cell), ' ', ...lineOf(row[fold!]!)] : cell))
  })
  return { ...rest, rows: merged, ...(wrap === undefined ? {} : { wrap }) }
}

/** Takes from the columns what they can give, and tells by how much they are still too wide. */
function narrow(widths: number[], { shrink = [], wrap, indent }: Table, columns: number): number {
  const over = (): number => indent.length + widths.reduce((sum, width) => sum + width + 2, -2) - columns
  const widthAt = (column: number | undefined): number => (column === undefined ? 0 : (widths[column] ?? 0))
  const readable = Math.max(LEAST_SHRUNK, Math.min(READABLE, columns - FOR_OTHERS))
  const least = wrap === undefined ? LEAST_SHRUNK : readable
  for (let excess = over(); excess > 0; excess = over()) {
    const [widest, next] = shrink.toSorted((a, b) => widthAt(b) - widthAt(a))
    if (widest === undefined || widthAt(widest) <= least) break
    // Down to the next one, and from there on in turn.
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
