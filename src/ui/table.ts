import { textOf, withText, type Block, type Line, type Piece, type Row, type Spread } from './block.ts'
import { fit, trimEnd, widthOf } from './fit.ts'
import { hang } from './hang.ts'
import type { Measure } from './width.ts'

type Table = Extract<Block, { kind: 'table' }>

/** What a column keeps, however narrow the terminal. */
const LEAST_SHRUNK = 16
const LEAST_WRAPPED = 20

/** The rows as lines with their cells aligned; what stands across the table is handed back as it is. */
export function tableLines(
  table: Table,
  columns: number | null,
  measure: Measure,
): readonly (Line | Spread)[] {
  const { rows, indent } = table
  const widths = columnWidths(rows, measure)
  if (columns !== null && narrow(widths, table, columns) > 0 && table.fold !== undefined)
    return tableLines(folded(table), columns, measure)
  return rows.flatMap((row): readonly (Line | Spread)[] => {
    if ('kind' in row) return [row]
    if (columns === null) return [aligned(row, widths, { indent, measure })]
    const cells = row.map((cell, index) =>
      cellLines(cell, index, { table, width: widths[index] ?? 0, measure }),
    )
    return Array.from({ length: Math.max(...cells.map((lines) => lines.length)) }, (_, at) => {
      const parts = cells.map((lines) => lines[at] ?? [])
      return fit(aligned(parts, widths, { indent, measure }), columns, measure)
    })
  })
}

interface Margin {
  readonly indent: string
  readonly measure: Measure
}

function aligned(cells: readonly Line[], widths: readonly number[], { indent, measure }: Margin): Line {
  const pieces: Piece[] = indent === '' ? [] : [indent]
  for (const [index, cell] of cells.entries()) {
    pieces.push(...cell, ' '.repeat(Math.max(0, (widths[index] ?? 0) - widthOf(cell, measure)) + 2))
  }
  return trimEnd(pieces)
}

function columnWidths(rows: readonly Row[], measure: Measure): number[] {
  const widths: number[] = []
  for (const row of rows) {
    if ('kind' in row) continue
    for (const [index, cell] of row.entries()) {
      widths[index] = Math.max(widths[index] ?? 0, widthOf(cell, measure))
    }
  }
  return widths
}

/** The table without its last column, what stands there put behind what wraps. */
function folded({ rows, fold, wrap, ...rest }: Table): Table {
  const merged = rows.map((row): Row => {
    if ('kind' in row || row[fold!] === undefined) return row
    return row.slice(0, fold).map((cell, at) => (at === wrap ? [...cell, ' ', ...row[fold!]!] : cell))
  })
  return { ...rest, rows: merged, ...(wrap === undefined ? {} : { wrap }) }
}

/** Takes from the columns what they can give, and tells by how much they are still too wide. */
function narrow(widths: number[], { shrink, wrap, indent }: Table, columns: number): number {
  const over = (): number => indent.length + widths.reduce((sum, width) => sum + width + 2, -2) - columns
  const give = (column: number | undefined, least: number): void => {
    const width = column === undefined ? undefined : widths[column]
    if (column === undefined || width === undefined) return
    widths[column] = Math.min(width, Math.max(least, width - Math.max(0, over())))
  }
  give(shrink, LEAST_SHRUNK)
  give(wrap, LEAST_WRAPPED)
  return over()
}

interface Place {
  readonly table: Table
  readonly width: number
  readonly measure: Measure
}

function cellLines(cell: Line, index: number, { table, width, measure }: Place): readonly Line[] {
  if (widthOf(cell, measure) <= width) return [cell]
  if (index !== table.wrap) return [fit(cell, width, measure)]
  const words = cell.flatMap((piece) =>
    textOf(piece)
      .split(' ')
      .filter(Boolean)
      .map((word): Line => [withText(piece, word)]),
  )
  return hang({ kind: 'hang', head: [], words, gap: ' ' }, width, measure)
}
