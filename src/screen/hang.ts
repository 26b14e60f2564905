import { textOf, withText, type Block, type Line, type Piece } from './block.ts'
import { fit, trimEnd, widthOf } from './fit.ts'
import type { Measure } from './width.ts'

/** Words after a head, wrapped below each other where the terminal ends. */
export function hang(
  { head, words, gap }: Extract<Block, { kind: 'hang' }>,
  columns: number | null,
  measure: Measure,
): readonly Line[] {
  const indent = widthOf(head, measure)
  const lines: Piece[][] = [[...head]]
  let used = indent
  let isFirst = true
  for (const word of words) {
    const width = widthOf(word, measure)
    if (!isFirst && columns !== null && used + gap.length + width > columns) {
      lines.push([' '.repeat(indent)])
      used = indent
      isFirst = true
    }
    lines.at(-1)!.push(...(isFirst ? [] : [withText(word[0] ?? '', gap)]), ...word)
    used += (isFirst ? 0 : gap.length) + width
    isFirst = false
  }
  return lines.map((line) => fit(trimEnd(line), columns, measure))
}

/** The same for the words of a sentence. */
export function prose(
  { head, text }: Extract<Block, { kind: 'prose' }>,
  columns: number | null,
  measure: Measure,
): readonly Line[] {
  const whole = textOf(text) === '' ? trimEnd(head) : [...head, text]
  if (columns === null || widthOf(whole, measure) <= columns) return [whole]
  const words = textOf(text)
    .split(' ')
    .map((word) => [withText(text, word)])
  return hang({ kind: 'hang', head, words, gap: ' ' }, columns, measure)
}
