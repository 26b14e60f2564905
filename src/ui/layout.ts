import { unreachable } from '../base/errors.ts'
import { textOf, type Block, type Line, type Piece } from './block.ts'
import { printable } from './printable.ts'
import { paint } from './style.ts'
import { cut, measureFor, type Measure } from './width.ts'

/** What blocks are laid out for. Where `columns` is null nothing is cut and nothing wraps. */
export interface Canvas {
  readonly columns: number | null
  readonly colour: boolean
}

/** The blocks as text, each line with its ending. */
export async function layOut(blocks: readonly Block[], canvas: Canvas): Promise<string> {
  const safe = blocks.map(printableBlock)
  const measure = await measureFor(textsOf(safe))
  const lines = safe.flatMap((block) => linesOf(block, canvas.columns, measure))
  let text = ''
  for (const line of lines) text += `${draw(line, canvas.colour)}\n`
  return text
}

function linesOf(block: Block, columns: number | null, measure: Measure): readonly Line[] {
  switch (block.kind) {
    case 'line':
      return [fit(block.line, columns, measure)]
    case 'spread':
      return spread(block.left, block.right, columns, measure)
    case 'hang':
      return hang(block, columns, measure)
    case 'table':
      return table(block, columns, measure)
    default:
      return unreachable(block)
  }
}

/** The widest that a line with something at its right edge becomes: further apart the eye loses the row. */
const SPREAD_COLUMNS = 100

function spread(left: Line, right: Line, columns: number | null, measure: Measure): readonly Line[] {
  const used = widthOf(left, measure) + widthOf(right, measure)
  if (right.length === 0) return [fit(left, columns, measure)]
  if (columns === null) return [[...left, '  ', ...right]]
  const room = Math.min(columns, SPREAD_COLUMNS) - used
  if (room >= 2) return [[...left, ' '.repeat(room), ...right]]
  return [fit(left, columns, measure), fit(['       ', ...right], columns, measure)]
}

type Hang = Extract<Block, { kind: 'hang' }>

function hang({ head, words, gap }: Hang, columns: number | null, measure: Measure): readonly Line[] {
  const indent = widthOf(head, measure)
  const lines: Line[] = []
  let current: Piece[] = [...head]
  let used = indent
  let first = true
  for (const word of words) {
    const width = widthOf(word, measure)
    if (!first && columns !== null && used + gap.length + width > columns) {
      lines.push(current)
      current = [' '.repeat(indent)]
      used = indent
      first = true
    }
    if (!first) current.push(gap)
    current.push(...word)
    used += (first ? 0 : gap.length) + width
    first = false
  }
  lines.push(current)
  return lines.map((line) => fit(trimEnd(line), columns, measure))
}

type Table = Extract<Block, { kind: 'table' }>

function table({ rows, shrink, indent }: Table, columns: number | null, measure: Measure): readonly Line[] {
  const widths = columnWidths(rows, measure)
  if (columns !== null) {
    const total = indent.length + widths.reduce((sum, width) => sum + width + 2, -2)
    widths[shrink] = Math.max(8, (widths[shrink] ?? 0) - Math.max(0, total - columns))
  }
  return rows.map((row) => {
    const cells: Piece[] = indent === '' ? [] : [indent]
    row.forEach((cell, index) => {
      const width = widths[index] ?? 0
      const shown = index === shrink && columns !== null ? fit(cell, width, measure) : cell
      cells.push(...shown, ' '.repeat(Math.max(0, width - widthOf(shown, measure)) + 2))
    })
    return fit(trimEnd(cells), columns, measure)
  })
}

function columnWidths(rows: Table['rows'], measure: Measure): number[] {
  const widths: number[] = []
  for (const row of rows) {
    row.forEach((cell, index) => {
      const width = widthOf(cell, measure)
      if (width > (widths[index] ?? 0)) widths[index] = width
    })
  }
  return Array.from(widths, (width) => width ?? 0)
}

function fit(line: Line, columns: number | null, measure: Measure): Line {
  if (columns === null || widthOf(line, measure) <= columns) return line
  const kept: Piece[] = []
  let room = columns
  for (const [index, piece] of line.entries()) {
    const isLast = index === line.length - 1
    const text = textOf(piece)
    const width = measure(text)
    if (width > (isLast ? room : room - 1)) {
      kept.push(withText(piece, cut(isLast ? text : `${text}…`, room, measure)))
      break
    }
    kept.push(piece)
    room -= width
  }
  return kept
}

function trimEnd(line: Line): Line {
  const kept = [...line]
  for (let last = kept.at(-1); last !== undefined; last = kept.at(-1)) {
    const trimmed = textOf(last).trimEnd()
    kept.pop()
    if (trimmed === '') continue
    kept.push(withText(last, trimmed))
    break
  }
  return kept
}

function draw(line: Line, colour: boolean): string {
  let text = ''
  for (const piece of line) {
    text += typeof piece === 'string' ? piece : colour ? paint(piece.text, piece.tone) : piece.text
  }
  return text
}

function widthOf(line: Line, measure: Measure): number {
  let width = 0
  for (const piece of line) width += measure(textOf(piece))
  return width
}

function withText(piece: Piece, text: string): Piece {
  return typeof piece === 'string' ? text : { ...piece, text }
}

const printableLine = (line: Line): Line => line.map((piece) => withText(piece, printable(textOf(piece))))

function printableBlock(block: Block): Block {
  switch (block.kind) {
    case 'line':
      return { ...block, line: printableLine(block.line) }
    case 'spread':
      return { ...block, left: printableLine(block.left), right: printableLine(block.right) }
    case 'hang':
      return { ...block, head: printableLine(block.head), words: block.words.map(printableLine) }
    case 'table':
      return { ...block, rows: block.rows.map((row) => row.map(printableLine)) }
    default:
      return unreachable(block)
  }
}

function* textsOf(blocks: readonly Block[]): Iterable<string> {
  for (const block of blocks) {
    for (const line of piecesOf(block)) for (const piece of line) yield textOf(piece)
  }
}

function piecesOf(block: Block): readonly Line[] {
  switch (block.kind) {
    case 'line':
      return [block.line]
    case 'spread':
      return [block.left, block.right]
    case 'hang':
      return [block.head, ...block.words]
    case 'table':
      return block.rows.flat()
    default:
      return unreachable(block)
  }
}
