import { unreachable } from '../base/errors.ts'
import { textOf, toneOf, withText, type Block, type Line, type Piece } from './block.ts'
import { printable } from './printable.ts'
import { paint, withAsciiSigns } from './style.ts'
import { tableLines } from './table.ts'
import { withoutJoiners } from './width.ts'
import { fit, hang, spreadLines, wrapped } from './wrap.ts'

/** What to lay blocks out for. If `columns` is null, nothing is cut or wrapped. */
export interface Canvas {
  readonly columns: number | null
  readonly colour: boolean
  /** Whether to draw signs in ASCII. */
  readonly ascii?: boolean
}

/** The blocks as text. */
export function layOut(blocks: readonly Block[], canvas: Canvas): string {
  let text = ''
  for (const block of blocks)
    for (const line of linesOf(block, canvas.columns)) text += `${lineText(line, canvas)}\n`
  return text
}

/** The lines of the blocks, none wider than `columns`. */
export function linesOfBlocks(blocks: readonly Block[], columns: number | null): readonly Line[] {
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
