import type { Frame, FrameRow } from '../../src/screen/full/frame.ts'
import { textOf } from '../../src/screen/block.ts'
import { fit } from '../../src/screen/fit.ts'
import type { Measure } from '../../src/screen/width.ts'

/** What a frame says, as text. */
export function frameText({ rows, columns }: Frame, measure: Measure): string {
  return rows.map((row) => rowText(row, columns, measure)).join('\n')
}

function rowText(row: FrameRow, columns: number, measure: Measure): string {
  let text = ''
  for (const { at, width, line: content } of row) {
    text += ' '.repeat(Math.max(0, at - measure(text)))
    text += fit(content, Math.min(width, columns - at), measure)
      .map(textOf)
      .join('')
  }
  return text.trimEnd()
}
