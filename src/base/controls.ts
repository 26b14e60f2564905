import { stripVTControlCharacters } from 'node:util'

/** Characters that a terminal obeys instead of showing: control characters, and those that change the direction of text. */
export const CONTROLS =
  '\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ufeff'

/** The same without line ends and tabs, written out: a look ahead at each character takes five times as long. */
const UNWANTED = new RegExp(`[${CONTROLS.replace('\\u0000-\\u001f', '\\u0000-\\u0008\\u000b-\\u001f')}]`, 'g')

/** A text of many lines without them: files and commits are read in terminals too. */
export function withoutControls(text: string): string {
  const lines = text.includes('\r') ? text.replaceAll(/\r\n?/g, '\n') : text
  const hasSequences = lines.includes('\u001b') || lines.includes('\u009b')
  const plain = hasSequences ? stripVTControlCharacters(lines) : lines
  return plain.replaceAll(UNWANTED, '')
}
