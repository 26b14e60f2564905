/** Returns the first keyword that is in a text as a whole word, as the text spells it; null if there is none. */
export type KeywordSearch = (text: string) => string | null

/** Makes the search for these words, ignoring case. */
export function searchFor(keywords: readonly string[]): KeywordSearch {
  const words = keywords.filter((word) => word !== '')
  if (words.length === 0) return () => null
  const anywhere = new RegExp(words.map(escaped).join('|'), 'iv')
  let whole: RegExp | undefined
  // Most texts contain none: this test is faster, and compiling the other pattern takes 6 ms.
  return (text) => {
    if (!anywhere.test(text)) return null
    whole ??= wholeWords(words)
    return whole.exec(text)?.[0] ?? null
  }
}

/** Tests whether a text may contain one of the words, from its UTF-8 bytes, each as one unit: false is certain, true is not. */
export function byteSearchFor(keywords: readonly string[]): (bytes: string) => boolean {
  const words = keywords.filter((word) => word !== '')
  if (words.length === 0) return () => false
  if (!words.every((word) => /^[\x20-\x7e]*$/.test(word))) return () => true
  // Ignoring case, s also matches the long s, and k the Kelvin sign.
  const pattern = words
    .map(escaped)
    .join('|')
    .replace(/s/gi, '(?:s|\xc5\xbf)')
    .replace(/k/gi, '(?:k|\xe2\x84\xaa)')
  const anywhere = new RegExp(pattern, 'i')
  return (bytes) => anywhere.test(bytes)
}

/**
 * The characters that continue a word. Scripts without spaces between words are left out, and so is Hangul, which
 * attaches particles to foreign words: `refactor를` contains refactor.
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
