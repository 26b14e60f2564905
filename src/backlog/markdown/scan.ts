import type { Span } from '../../base/diagnostic.ts'
import type { MarkdownBlock, HeadingBlock, ItemBlock } from './blocks.ts'

/**
 * Finds the block structure of ordinary Markdown line by line, about a hundred times as fast as a parser. It never
 * guesses: if the Markdown parser, which is the reference, might read something differently, it returns null.
 *
 * The reason why this is possible: a line that begins in the first column with `#` and is not inside a fence or an
 * HTML block ends every list, quote and paragraph before it. So only fences, HTML blocks and underlined headings need
 * care, and only those that do not begin in the first column are ambiguous.
 */
export function scanHeadings(
  source: string,
  from: number,
  deepest: number = 2,
): readonly HeadingBlock[] | null {
  if (hasLoneLineEnd(source)) return null
  const headings: HeadingBlock[] = []
  for (let at = from; at < source.length;) {
    const before = at === from ? from : source.lastIndexOf('\n', at - 2) + 1
    const line = lineEnd(source, at)
    const end = line.text
    let { next } = line
    switch (source.charCodeAt(at)) {
      case HASH: {
        const heading = atxHeading(source, at, { end, deepest })
        if (heading !== null) headings.push(heading)
        break
      }
      case SPACE: {
        const fence = indentedFenceEnd(source, at, { from, end })
        if (fence !== null) next = fence
        else if (isAmbiguousIndent(source, at, { end, before, deepest })) return null
        break
      }
      case BACKTICK:
      case TILDE:
        next = fenceEnd(source, at, end) ?? next
        break
      case LESS: {
        const after = htmlEnd(source, at)
        if (after === null) return null
        next = Math.max(after, next)
        break
      }
      case DASH:
      case EQUALS:
        if (headings.at(-1)?.span.start === before && before < at) break
        if (before < at && hasNoUnderline(source, before)) break
        if (isUnderline(source, at, end) && isText(source, before, at)) return null
        break
    }
    TO_SPECIAL_LINE.lastIndex = next - 1
    at = TO_SPECIAL_LINE.test(source) ? TO_SPECIAL_LINE.lastIndex : source.length
  }
  return headings
}

/** The end of a line before one that may begin a heading, a fence or HTML, or underline a heading. */
const TO_SPECIAL_LINE = /\n(?=[#`~<]| {1,3}[#`~<=-]|(?:-+|=+)[ \t]*(?:[\r\n]|$))/g

type LineKind = 'blank' | 'item' | 'text' | 'quote' | 'comment'

/**
 * The blocks between two headings, if each line shows its kind by its beginning: a bullet of one line, a line of a
 * paragraph or of a table, a quote, a comment. Null if a line may continue the one before it in another way, or is
 * anything else.
 */
export function scanBlocks(source: string, span: Span): readonly MarkdownBlock[] | null {
  const blocks: MarkdownBlock[] = []
  let items: ItemBlock[] = []
  let last: LineKind = 'blank'
  let textStart = 0
  let at = span.start
  while (at < span.end) {
    const end = lineEnd(source, at)
    const kind = kindOf(source, at, end.text)
    if (kind === null || isUnclear(last, kind)) return null
    if (kind === 'text') {
      if (last === 'text') blocks.pop()
      else textStart = at
      blocks.push({ kind: 'text', span: { start: textStart, end: trimGaps(source, at, end.text) } })
    }
    if (kind === 'item') {
      const text = bulletText(source, at, end.text)!
      if (blocks.at(-1)?.kind !== 'list') blocks.push({ kind: 'list', items: (items = []) })
      items.push({ span: { start: at, end: text.end }, text, inner: null, nested: [] })
    }
    last = kind
    at = kind === 'comment' ? Math.max(end.next, htmlEnd(source, at) ?? end.next) : end.next
  }
  return blocks
}

function kindOf(source: string, start: number, end: number): LineKind | null {
  if (isBlank(source, start, end)) return 'blank'
  const first = source[start]!
  if (first === '>') return 'quote'
  if (source.startsWith('<!--', start)) return 'comment'
  if (first === '|' || isWordUnit(source.charCodeAt(start))) return 'text'
  const isBold = source.startsWith('**', start) || source.startsWith('__', start)
  if (isBold && isWordUnit(source.charCodeAt(start + 2))) return 'text'
  return bulletText(source, start, end) === null ? null : 'item'
}

/** Text continues a bullet or quote above it; a bullet below text or a quote is left to the parser. */
function isUnclear(last: LineKind, kind: LineKind): boolean {
  if (kind === 'text') return last === 'item' || last === 'quote'
  return kind === 'item' && (last === 'text' || last === 'quote')
}

const TAB = 9
const CARRIAGE_RETURN = 13
const SPACE = 32
const HASH = 35
const STAR = 42
const PLUS = 43
const DASH = 45
const LESS = 60
const EQUALS = 61
const GREATER = 62
const BRACKET = 91
const BACKTICK = 96
const TILDE = 126

/** A carriage return alone ends a line in Markdown; such files are rare and left to the parser. */
export function hasLoneLineEnd(source: string): boolean {
  return source.includes('\r') && /\r(?!\n)/.test(source)
}

/** The end of a line's text, from the offset of its line feed, if there is one. */
function textEnd(source: string, at: number, feed: number): number {
  if (feed < 0) return source.length
  return feed > at && source.charCodeAt(feed - 1) === CARRIAGE_RETURN ? feed - 1 : feed
}

/** The end of the line's text, and the start of the next line. */
export function lineEnd(source: string, at: number): { text: number; next: number } {
  const feed = source.indexOf('\n', at)
  return { text: textEnd(source, at, feed), next: feed < 0 ? source.length : feed + 1 }
}

function isGap(unit: number): boolean {
  return unit === SPACE || unit === TAB
}

function skipGaps(source: string, at: number, end: number): number {
  while (at < end && isGap(source.charCodeAt(at))) at++
  return at
}

function trimGaps(source: string, start: number, end: number): number {
  while (end > start && isGap(source.charCodeAt(end - 1))) end--
  return end
}

function isBlank(source: string, start: number, end: number): boolean {
  return skipGaps(source, start, end) === end
}

/** The length of a run of the same unit. */
function runLength(source: string, at: number, end: number): number {
  const unit = source.charCodeAt(at)
  let i = at
  while (i < end && source.charCodeAt(i) === unit) i++
  return i - at
}

/** A heading that begins in the first column, if the line is one of these levels. */
function atxHeading(
  source: string,
  start: number,
  { end: lineEnd, deepest }: { end: number; deepest: number },
): HeadingBlock | null {
  const depth = runLength(source, start, lineEnd)
  const afterMarks = start + depth
  if (depth > deepest || (afterMarks < lineEnd && !isGap(source.charCodeAt(afterMarks)))) return null
  const textStart = skipGaps(source, afterMarks, lineEnd)
  const end = trimGaps(source, afterMarks, lineEnd)
  let textEnd = end
  while (textEnd > textStart && source.charCodeAt(textEnd - 1) === HASH) textEnd--
  const isClosed = textEnd < end && (textEnd === textStart || isGap(source.charCodeAt(textEnd - 1)))
  textEnd = isClosed ? trimGaps(source, textStart, textEnd) : end
  return {
    kind: 'heading',
    depth,
    span: { start, end },
    text: { start: textStart, end: textEnd },
  }
}

/** Whether up to three spaces come before a possible heading, fence, HTML or underline, which means something else in a list. */
function isAmbiguousIndent(
  source: string,
  start: number,
  { end, before, deepest }: { end: number; before: number; deepest: number },
): boolean {
  const at = start + runLength(source, start, end)
  if (at - start > 3 || at === end) return false
  switch (source.charCodeAt(at)) {
    case HASH:
      return runLength(source, at, end) <= deepest
    case BACKTICK:
    case TILDE:
      return runLength(source, at, end) >= 3
    case LESS:
      return startsHtml(source, at)
    case DASH:
    case EQUALS:
      return isUnderline(source, at, end) && isText(source, before, start)
    default:
      return false
  }
}

/** Whether the first line of a span (the line before an underline, or a fence) is not blank. */
function isText(source: string, start: number, end: number): boolean {
  return start < end && !isBlank(source, start, lineEnd(source, start).text)
}

function isUnderline(source: string, start: number, end: number): boolean {
  return isBlank(source, start + runLength(source, start, end), end)
}

/** The marks that open a code block. */
interface FenceMarks {
  readonly mark: number
  readonly count: number
}

/** The marks of a fence that opens here; null if none opens. */
function openingFence(source: string, at: number, end: number): FenceMarks | null {
  const [mark, count] = [source.charCodeAt(at), runLength(source, at, end)]
  if ((mark !== BACKTICK && mark !== TILDE) || count < 3) return null
  const info = source.indexOf('`', at + count)
  return mark === BACKTICK && info >= 0 && info < end ? null : { mark, count }
}

function closesFence(source: string, at: number, end: number, { mark, count }: FenceMarks): boolean {
  return source.charCodeAt(at) === mark && runLength(source, at, end) >= count && isUnderline(source, at, end)
}

/** The line after a fence that opens here; null if none opens. */
function fenceEnd(source: string, start: number, end: number): number | null {
  const fence = openingFence(source, start, end)
  if (fence === null) return null
  let at = lineEnd(source, start).next
  while (at < source.length) {
    const line = lineEnd(source, at)
    const first = skipSpaces(source, at, line.text)
    const closes = first - at <= 3 && closesFence(source, first, line.text, fence)
    at = line.next
    if (closes) break
  }
  return at
}

/**
 * The line after a fence that is indented by up to three spaces, as in a list, if it ends at the same line wherever it
 * stands: all of it is indented as far, and nothing in it looks like its end in a deeper list. Null for anything else.
 */
function indentedFenceEnd(
  source: string,
  start: number,
  { from, end }: { from: number; end: number },
): number | null {
  const indent = skipSpaces(source, start, end) - start
  const fence = indent > 3 ? null : openingFence(source, start + indent, end)
  if (fence === null) return null
  // HTML that begins in a list or a quote may hold the fence, up to the next heading in the first column.
  const heading = Math.max(from, source.lastIndexOf('\n#', start))
  if (OPENS_HTML.test(source.slice(heading, start))) return null
  for (let at = lineEnd(source, start).next; at < source.length;) {
    const line = lineEnd(source, at)
    const first = skipGaps(source, at, line.text)
    if (first < line.text) {
      const own = skipSpaces(source, at, line.text) - at
      if (closesFence(source, first, line.text, fence))
        return own === first - at && own >= indent && own <= 3 ? line.next : null
      if (own < indent && source.charCodeAt(at + own) !== TAB) return null
    }
    at = line.next
  }
  return null
}

const OPENS_HTML = /^[\s>*+\d.)-]*<[A-Za-z/!?]/m

function skipSpaces(source: string, at: number, end: number): number {
  while (at < end && source.charCodeAt(at) === SPACE) at++
  return at
}

/** The line after a comment that opens here, or the next line if no HTML opens; null for other HTML. */
function htmlEnd(source: string, at: number): number | null {
  if (!source.startsWith('<!--', at)) return startsHtml(source, at) ? null : lineEnd(source, at).next
  const close = source.indexOf('-->', at + 2)
  return close < 0 ? source.length : lineEnd(source, close).next
}

function startsHtml(source: string, at: number): boolean {
  return /[A-Za-z/!?]/.test(source[at + 1] ?? '')
}

/** The text of a bullet in the first column with one plain line; null if it may be anything else. */
function bulletText(source: string, start: number, end: number): Span | null {
  const bullet = source.charCodeAt(start)
  if (bullet !== DASH && bullet !== STAR && bullet !== PLUS) return null
  if (source.charCodeAt(start + 1) !== SPACE) return null
  const at = start + 2
  const text = { start: at, end: trimGaps(source, at, end) }
  return beginsParagraph(source, at, text.end) ? text : null
}

/** Whether a line in the first column is a heading, or in a bullet or a quote, whose text cannot be underlined outside of it. */
function hasNoUnderline(source: string, start: number): boolean {
  const { text: end } = lineEnd(source, start)
  switch (source.charCodeAt(start)) {
    case HASH: {
      const marks = runLength(source, start, end)
      return marks <= 6 && (start + marks === end || isGap(source.charCodeAt(start + marks)))
    }
    case GREATER:
      return true
    case DASH:
    case STAR:
    case PLUS:
      return source.charCodeAt(start + 1) === SPACE && !isBlank(source, start + 1, end)
    default:
      return false
  }
}

function beginsParagraph(source: string, at: number, end: number): boolean {
  if (at >= end) return false
  const unit = source.charCodeAt(at)
  if (unit > 127) return true
  if (unit === STAR) return source.charCodeAt(at + 1) === STAR && isWordUnit(source.charCodeAt(at + 2))
  if (unit === BACKTICK) return runLength(source, at, end) < 3
  if (unit === BRACKET) return !/\]:/.test(source.slice(at, end))
  if (unit >= 48 && unit <= 57)
    return !/^\d{1,9}[.)](?:[ \t]|$)/.test(source.slice(at, Math.min(end, at + 11)))
  return isWordUnit(unit)
}

function isWordUnit(unit: number): boolean {
  return unit > 127 || (unit >= 65 && unit <= 90) || (unit >= 97 && unit <= 122)
}
