import { unreachable } from '../base/errors.ts'
import { withAsciiSigns } from './ascii.ts'
import { lineOf, textOf, toneOf, withText, type Block, type Line, type Piece, type Spread } from './block.ts'
import { fit, widthOf } from './fit.ts'
import { hang, prose } from './hang.ts'
import { printable } from './printable.ts'
import { paint } from './style.ts'
import { tableLines } from './table.ts'
import { isNarrow, lengthOf, measureForAny, type Measure } from './width.ts'

/** What to lay blocks out for. If `columns` is null, nothing is cut or wrapped. */
export interface Canvas {
  readonly columns: number | null
  readonly colour: boolean
  /** Whether to draw signs in ASCII. */
  readonly ascii?: boolean
}

/** The blocks as text. */
export async function layOut(blocks: readonly Block[], canvas: Canvas): Promise<string> {
  let text = ''
  for (const line of allLines(blocks, canvas.columns, lengthOf)) {
    const plain = plainText(line)
    // The text may contain control characters, or characters that are not one column wide.
    if (!isNarrow(plain)) {
      return layOutNow(blocks, canvas, needsMeasure(blocks, canvas) ? await measureForAny() : lengthOf)
    }
    text += `${canvas.colour ? paintedText(line) : plain}\n`
  }
  return canvas.ascii ? withAsciiSigns(text) : text
}

/** The same synchronously, with a measure that is right for any text. */
export function layOutNow(
  blocks: readonly Block[],
  { columns, colour, ascii }: Canvas,
  measure: Measure,
): string {
  const draw = colour ? paintedText : plainText
  let text = ''
  for (const line of allLines(blocks.map(printableBlock), columns, measure)) text += `${draw(line)}\n`
  return ascii ? withAsciiSigns(text) : text
}

/** The lines of the blocks, none wider than `columns`, without control characters of the text. */
export function linesOfBlocks(
  blocks: readonly Block[],
  columns: number | null,
  measure: Measure,
): readonly Line[] {
  return [...allLines(blocks.map(printableBlock), columns, measure)]
}

/** A line for a terminal, without control characters of its text. */
export function lineText(line: Line, { colour, ascii }: Pick<Canvas, 'colour' | 'ascii'>): string {
  const safe = line.map((piece) => withText(piece, printable(textOf(piece))))
  const text = colour ? paintedText(safe) : plainText(safe)
  return ascii ? withAsciiSigns(text) : text
}

/** If nothing is cut or wrapped, only tables need a measure. */
function needsMeasure(blocks: readonly Block[], { columns }: Canvas): boolean {
  return columns !== null || blocks.some(({ kind }) => kind === 'table')
}

function* allLines(blocks: readonly Block[], columns: number | null, measure: Measure): Iterable<Line> {
  for (const block of blocks) yield* linesOf(block, columns, measure)
}

function linesOf(block: Block, columns: number | null, measure: Measure): Iterable<Line> {
  switch (block.kind) {
    case 'line':
      return [fit(block.line, columns, measure)]
    case 'spread':
      return spread(block, columns, measure)
    case 'hang':
      return hang(block, columns, measure)
    case 'prose':
      return prose(block, columns, measure)
    case 'table':
      return tableLines(block, columns, measure, spread)
    default:
      return unreachable(block)
  }
}

/** The greatest width of a line with a part at its right edge: the eye cannot follow a wider gap. */
export const SPREAD_COLUMNS = 100

function spread({ left, right, oneLine }: Spread, columns: number | null, measure: Measure): readonly Line[] {
  if (right.length === 0) return [fit(left, columns, measure)]
  if (columns === null) return [[...left, '  ', ...right]]
  const rightWidth = widthOf(right, measure)
  const shown = oneLine ? fit(left, Math.max(0, columns - rightWidth - 2), measure) : left
  const room = Math.min(columns, SPREAD_COLUMNS) - widthOf(shown, measure) - rightWidth
  if (room >= 2) return [[...shown, ' '.repeat(room), ...right]]
  if (oneLine) return [fit([...shown, '  ', ...right], columns, measure)]
  return [fit(left, columns, measure), fit(['       ', ...right], columns, measure)]
}

function plainText(line: Line): string {
  let text = ''
  for (const piece of line) text += textOf(piece)
  return text
}

function paintedText(line: Line): string {
  let text = ''
  for (const piece of joinTones(line))
    text += typeof piece === 'string' ? piece : paint(piece.text, piece.tone)
  return text
}

/** Joins neighbours with the same tone into one piece, so that it is switched on and off once. */
function joinTones(line: Line): Line {
  const joined: Piece[] = []
  for (const piece of line) {
    const last = joined.at(-1)
    if (last !== undefined && toneOf(last) === toneOf(piece)) {
      joined[joined.length - 1] = withText(last, textOf(last) + textOf(piece))
    } else joined.push(piece)
  }
  return joined
}

function printableBlock(block: Block): Block {
  return mapLines(block, (line) => line.map((piece) => withText(piece, printable(textOf(piece)))))
}

/** The block with each of its lines mapped. */
function mapLines(block: Block, map: (line: Line) => Line): Block {
  switch (block.kind) {
    case 'line':
      return { ...block, line: map(block.line) }
    case 'spread':
      return { ...block, left: map(block.left), right: map(block.right) }
    case 'hang':
      return { ...block, head: map(block.head), words: block.words.map(map) }
    case 'prose':
      return { ...block, head: map(block.head), text: map([block.text])[0] ?? '' }
    case 'table':
      return {
        ...block,
        rows: block.rows.map((row) =>
          'kind' in row
            ? { ...row, left: map(row.left), right: map(row.right) }
            : row.map((cell) => map(lineOf(cell))),
        ),
      }
    default:
      return unreachable(block)
  }
}
