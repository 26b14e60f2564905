/** How many columns a text takes. */
export type Measure = (text: string) => number

/** What is none of the Latin letters, punctuation, arrows and signs that take one column each. A terminal obeys none of those. */
const ODD =
  /[^\x20-\x7e\u00a1-\u02ff\u0370-\u03ff\u0410-\u044f\u2010-\u2027\u2030-\u205e\u2190-\u21ff\u2500-\u259f\u25a0\u25b6\u25b8\u25cb\u25cf\u25d0\u2713\u2717]/

/** Whether a text is of characters that take a column each. */
export function isNarrow(text: string): boolean {
  return !ODD.test(text)
}

/** The measure of narrow texts. */
export const lengthOf: Measure = (text) => text.length

/** A measure that is right for whatever comes. */
export async function measureForAny(): Promise<Measure> {
  const { default: stringWidth } = await import('fast-string-width')
  return (text) => (isNarrow(text) ? text.length : stringWidth(text))
}

/** As much of the text as fits, with `…` where something had to go. */
export function cut(text: string, columns: number, measure: Measure): string {
  if (measure(text) <= columns) return text
  if (columns < 1) return ''
  let [kept, used] = ['', 0]
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    const width = measure(segment)
    if (used + width > columns - 1) break
    kept += segment
    used += width
  }
  return `${kept}…`
}

/** What joins and colours emoji: terminals do not agree how wide the result is. */
const JOINERS = /\u200d|\ufe0e|\ufe0f|[\u{1f3fb}-\u{1f3ff}]/gu

/** The text with each emoji by itself, which is as wide in any terminal. */
export function withoutJoiners(text: string): string {
  return isNarrow(text) ? text : text.replace(JOINERS, '')
}
