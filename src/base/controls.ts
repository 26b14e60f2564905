import { stripVTControlCharacters } from 'node:util'

/** Characters that a terminal obeys instead of showing: control characters, and those that change the direction of text. */
export const CONTROLS =
  '\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ufeff'

const UNWANTED = new RegExp(`(?![\\n\\t])[${CONTROLS}]`, 'g')

/** A text of many lines without them: files and commits are read in terminals too. */
export function withoutControls(text: string): string {
  return stripVTControlCharacters(text.replaceAll(/\r\n?/g, '\n')).replaceAll(UNWANTED, '')
}
