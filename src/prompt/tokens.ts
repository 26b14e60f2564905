import { estimateTokenCount } from 'tokenx'

/**
 * Estimates the tokens of a text, within a few percent of current models. Blanks, which tokenx counts as nothing,
 * count here: otherwise a text of blanks would fit into any budget.
 */
export function countTokens(text: string): number {
  const estimate = countAsciiTokens(text) ?? estimateTokenCount(text)
  return Math.max(estimate, Math.ceil(text.length / MOST_UNITS_A_TOKEN))
}

/** The tokens of a text, at most the limit. */
export function countUpTo(text: string, limit: number): number {
  return text.length > limit * MOST_UNITS_A_TOKEN ? limit : Math.min(limit, countTokens(text))
}

/** A text that was cut at the end of a line, or inside a single line that is too long. */
export interface Cut {
  readonly text: string
  /** How many whole lines are left, and how many there were. */
  readonly lines: number
  readonly of: number
}

/** As many lines from the start as the limit allows; null if the whole text is within it. */
export function cutEnd(text: string, limit: number): Cut | null {
  return fits(text, limit) ? null : firstLines(text, limit)
}

/** As many lines from the end as the limit allows; null if the whole text is within it. */
export function cutStart(text: string, limit: number): Cut | null {
  return fits(text, limit) ? null : linesFrom('end', text, limit)
}

/** As many lines from the start as the limit allows, of a text that is certainly too long: it is not read to its end. */
export function firstLines(text: string, limit: number): Cut {
  return linesFrom('start', text, limit)
}

function linesFrom(side: 'start' | 'end', text: string, limit: number): Cut {
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? []
  const count = linesWithin(side === 'start' ? lines : lines.toReversed(), limit)
  const first = (side === 'start' ? lines[0] : lines.at(-1)) ?? ''
  const kept = side === 'start' ? lines.slice(0, count) : lines.slice(lines.length - count)
  const cut = count === 0 ? partOf(side, first, limit) : kept.join('')
  return { text: cut, lines: count, of: lines.length }
}

const MOST_UNITS_A_TOKEN = 16

/** Tests the length first: a text that is far too long is not counted. */
function fits(text: string, limit: number): boolean {
  return text.length <= limit * MOST_UNITS_A_TOKEN && countTokens(text) <= limit
}

/** A line's own count plus one for its ending is never less than its share of the whole. */
function linesWithin(lines: readonly string[], limit: number): number {
  let spent = 0
  for (const [index, line] of lines.entries()) {
    if (spent + line.length / MOST_UNITS_A_TOKEN > limit) return index
    spent += countTokens(line.replace(/\r?\n$/, '')) + 1
    if (spent > limit) return index
  }
  return lines.length
}

/** The longest piece of a line within the limit, of several lengths; it splits no sign of two units. */
function partOf(side: 'start' | 'end', line: string, limit: number): string {
  for (let units = limit * MOST_UNITS_A_TOKEN; units >= 1; units = Math.floor(units * 0.8)) {
    const piece =
      side === 'start'
        ? line.slice(0, units).replace(/[\ud800-\udbff]$/, '')
        : line.slice(-units).replace(/^[\udc00-\udfff]/, '')
    if (fits(piece, limit)) return piece
  }
  return ''
}

/**
 * Shares one budget: nobody gets more than they want, unused parts go to the others, and all whose share is cut get
 * the same. If that share is below `least`, the last ones who want more than it get nothing.
 */
export function fairShares(wants: readonly number[], budget: number, least: number): readonly number[] {
  const isEnough = (served: number): boolean =>
    evenShares(wants.slice(0, served), budget).every(
      (share, index) => share >= Math.min(wants[index]!, least),
    )
  // Including one more never increases the others' shares, so a binary search finds the most that fit.
  let [enough, tooMany] = [0, wants.length + 1]
  while (tooMany - enough > 1) {
    const middle = Math.floor((enough + tooMany) / 2)
    if (isEnough(middle)) enough = middle
    else tooMany = middle
  }
  return [...evenShares(wants.slice(0, enough), budget), ...wants.slice(enough).map(() => 0)]
}

/** Small wants are met first; each of the rest gets an equal part of what is left. */
function evenShares(wants: readonly number[], budget: number): readonly number[] {
  const shares = wants.map(() => 0)
  const bySize = wants.map((want, index) => ({ want, index })).sort((a, b) => a.want - b.want)
  let left = Math.max(0, budget)
  for (const [position, { want, index }] of bySize.entries()) {
    const share = Math.min(want, Math.floor(left / (bySize.length - position)))
    shares[index] = share
    left -= share
  }
  return shares
}

/**
 * Counts like tokenx, ten times as fast, for ASCII text, such as most code. Null for other text, which tokenx must
 * count.
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
