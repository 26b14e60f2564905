/** Gives the first of the keywords that stands in a text as a whole word, as the text writes it; null where none does. */
export type KeywordSearch = (text: string) => string | null

/** Makes the search for these words, in any case. */
export function searchFor(keywords: readonly string[]): KeywordSearch {
  const words = keywords.filter((word) => word !== '')
  if (words.length === 0) return () => null
  const anywhere = new RegExp(words.map(escaped).join('|'), 'iv')
  const whole = new RegExp(words.map(wholeWord).join('|'), 'iv')
  // Most texts hold none, and to learn only that costs less.
  return (text) => (anywhere.test(text) ? (whole.exec(text)?.[0] ?? null) : null)
}

/**
 * What a word goes on with. Scripts that set no space between words are left out, and Hangul, whose particles hang on
 * to a foreign word: `refactor를` is about a refactor.
 */
const LETTER = String.raw`[[\p{L}\p{M}\p{N}_]--[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Thai}]]`
const STARTS_WITH_LETTER = new RegExp(`^${LETTER}`, 'v')
const ENDS_WITH_LETTER = new RegExp(`${LETTER}$`, 'v')

function wholeWord(word: string): string {
  const before = STARTS_WITH_LETTER.test(word) ? `(?<!${LETTER})` : ''
  const after = ENDS_WITH_LETTER.test(word) ? `(?!${LETTER})` : ''
  return before + escaped(word) + after
}

function escaped(word: string): string {
  return word.replace(/[\^$\\.*+?()[\]{}|/]/g, String.raw`\$&`)
}
