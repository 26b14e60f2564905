import type { Frame, FrameRow } from '../../src/screen/full/painter.ts'
import { textOf } from '../../src/screen/block.ts'
import { textWidth } from '../../src/screen/printable.ts'
import { fit } from '../../src/screen/layout.ts'

/** What a frame says, as text. */
export function frameText({ rows, columns }: Frame): string {
  return rows.map((row) => rowText(row, columns)).join('\n')
}

function rowText(row: FrameRow, columns: number): string {
  let text = ''
  for (const { at, width, line: content } of row) {
    text += ' '.repeat(Math.max(0, at - textWidth(text)))
    text += fit(content, Math.min(width, columns - at))
      .map(textOf)
      .join('')
  }
  return text.trimEnd()
}
