import stringWidth from 'fast-string-width'
import { printable } from './printable.ts'

/** Everything except Latin letters, punctuation, arrows and signs that take one column each and do not control a terminal. */
const ODD =
  /[^\x20-\x7e\u00a1-\u02ff\u0370-\u03ff\u0410-\u044f\u2010-\u2027\u2030-\u205e\u2190-\u21ff\u2500-\u259f\u25a0\u25b6\u25b8\u25cb\u25cf\u25d0\u2713\u2717]/

/** Whether all characters of a text take one column each. */
export function isNarrow(text: string): boolean {
  return !ODD.test(text)
}

/** The number of columns that a terminal shows a text in. */
export function textWidth(text: string): number {
  return isNarrow(text) ? text.length : stringWidth(withoutJoiners(printable(text)))
}

/** As much of the text as fits, with `…` at a cut. */
export function cut(text: string, columns: number): string {
  if (textWidth(text) <= columns) return text
  if (columns < 1) return ''
  let [kept, used] = ['', 0]
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    const width = textWidth(segment)
    if (used + width > columns - 1) break
    kept += segment
    used += width
  }
  return `${kept}…`
}

/** Characters that join and colour emoji: terminals differ in the width of the result. */
const JOINERS = /\u200d|\ufe0e|\ufe0f|[\u{1f3fb}-\u{1f3ff}]/gu

/** Separates joined emoji, which have the same width in any terminal. */
export function withoutJoiners(text: string): string {
  return isNarrow(text) ? text : text.replace(JOINERS, '')
}
