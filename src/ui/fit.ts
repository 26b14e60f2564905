import { textOf, withText, type Line, type Piece } from './block.ts'
import { cut, type Measure } from './width.ts'

/** The line cut at so many columns, with `…` where something had to go; null cuts nothing. */
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

/** The line without blanks at its end. */
export function trimEnd(line: Line): Line {
  let end = line.length
  while (end > 0 && textOf(line[end - 1]!).trimEnd() === '') end--
  const kept = line.slice(0, end)
  const last = kept.at(-1)
  if (last !== undefined) kept[end - 1] = withText(last, textOf(last).trimEnd())
  return kept
}

export function widthOf(line: Line, measure: Measure): number {
  let width = 0
  for (const piece of line) width += measure(textOf(piece))
  return width
}
