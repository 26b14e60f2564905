import { isPiece, textOf, withText, type Cell, type Line, type Piece } from './block.ts'
import { cut, type Measure } from './width.ts'

/** Cuts a line to a number of columns, with `…` at the cut; null cuts nothing. */
export function fit(line: Line, columns: number | null, measure: Measure): Line {
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

/** Removes the blanks at a line's end. */
export function trimEnd(line: Line): Line {
  let end = line.length
  while (end > 0 && textOf(line[end - 1]!).trimEnd() === '') end--
  const last = line[end - 1]
  if (last === undefined) return []
  const text = textOf(last).trimEnd()
  if (end === line.length && text === textOf(last)) return line
  return [...line.slice(0, end - 1), withText(last, text)]
}

export function widthOf(cell: Cell, measure: Measure): number {
  if (isPiece(cell)) return measure(textOf(cell))
  let width = 0
  for (const piece of cell) width += measure(textOf(piece))
  return width
}
