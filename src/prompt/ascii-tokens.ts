/**
 * Counts as tokenx does, at a tenth of its time, for a text that is nothing but ASCII: code mostly is. Null for any
 * other text, of which tokenx is the judge.
 */
export function countAsciiTokens(text: string): number | null {
  let count = 0
  let before = WORD
  for (let at = 0; at < text.length;) {
    const kind = KINDS[text.charCodeAt(at)]
    if (kind === undefined) return null
    let end = at + 1
    while (end < text.length && KINDS[text.charCodeAt(end)] === kind) end++
    if (kind === WORD) count += wordTokens(text, at, end)
    else if (kind === MARK) count += end - at <= 3 ? 1 : Math.ceil((end - at) / 6)
    else count += blankTokens(text, at, end, before)
    before = kind
    at = end
  }
  return count
}

const [WORD, BLANK, MARK] = [0, 1, 2]

const KINDS = Uint8Array.from({ length: 128 }, (_, code) => {
  const unit = String.fromCharCode(code)
  if (/\s/.test(unit)) return BLANK
  return /[.,!?;(){}[\]<>:/\\|@#$%^&*+=`~_"-]/.test(unit) ? MARK : WORD
})

/** Indentation and blank lines count, the end of a line only after a word. */
function blankTokens(text: string, start: number, end: number, before: number): number {
  let feed = start
  while (feed < end && text.charCodeAt(feed) !== 10) feed++
  if (feed === end) return 0
  return end - feed > 1 || before !== MARK ? 1 : 0
}

function wordTokens(text: string, start: number, end: number): number {
  const length = end - start
  if (everyUnit(text, start, end, 48, 57)) return Math.ceil(length / 3)
  const isShort = length <= 3 || (length <= 8 && everyUnit(text, start, end, 97, 122))
  return isShort ? 1 : Math.ceil(length / 7)
}

function everyUnit(text: string, start: number, end: number, least: number, most: number): boolean {
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code < least || code > most) return false
  }
  return true
}
