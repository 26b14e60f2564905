/** Gives the first of the keywords that stands in a text as a whole word, as the text writes it; null where none does. */
export type KeywordSearch = (text: string) => string | null

/** Makes the search for these words, in any case. */
export function searchFor(keywords: readonly string[]): KeywordSearch {
  const words = keywords.filter((word) => word !== '')
  if (words.length === 0) return () => null
  const anywhere = new RegExp(words.map(escaped).join('|'), 'iv')
  let whole: RegExp | undefined
  // Most texts hold none: to learn only that costs less, and making the other takes 6 ms.
  return (text) => {
    if (!anywhere.test(text)) return null
    whole ??= wholeWords(words)
    return whole.exec(text)?.[0] ?? null
  }
}

/** Whether a text may say one of the words, asked of its UTF-8 bytes, each as one unit: no is certain, yes is not. */
export function byteSearchFor(keywords: readonly string[]): (bytes: string) => boolean {
  const words = keywords.filter((word) => word !== '')
  if (words.length === 0) return () => false
  if (!words.every((word) => /^[\x20-\x7e]*$/.test(word))) return () => true
  // In any case, an s is also the long one, and a k the sign of Kelvin.
  const pattern = words
    .map(escaped)
    .join('|')
    .replace(/s/gi, '(?:s|\xc5\xbf)')
    .replace(/k/gi, '(?:k|\xe2\x84\xaa)')
  const anywhere = new RegExp(pattern, 'i')
  return (bytes) => anywhere.test(bytes)
}

/**
 * What a word goes on with. Scripts that set no space between words are left out, and Hangul, whose particles hang on
 * to a foreign word: `refactor를` is about a refactor.
 */
const LETTER = String.raw`[[\p{L}\p{M}\p{N}_]--[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Thai}]]`

function wholeWords(words: readonly string[]): RegExp {
  const startsWithLetter = new RegExp(`^${LETTER}`, 'v')
  const endsWithLetter = new RegExp(`${LETTER}$`, 'v')
  const patterns = words.map((word) => {
    const before = startsWithLetter.test(word) ? `(?<!${LETTER})` : ''
    const after = endsWithLetter.test(word) ? `(?!${LETTER})` : ''
    return before + escaped(word) + after
  })
  return new RegExp(patterns.join('|'), 'iv')
}

function escaped(word: string): string {
  return word.replace(/[\^$\\.*+?()[\]{}|/]/g, String.raw`\$&`)
}
