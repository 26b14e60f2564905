import { textOf, withText, type Block, type Line, type Piece, type Spread } from './block.ts'
import { cut, textWidth } from './width.ts'

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
export function spreadLines({ left, right, oneLine }: Spread, columns: number | null): readonly Line[] {
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
export function hang(
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
export function wrapped(head: Line, text: Line, columns: number | null): readonly Line[] {
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
