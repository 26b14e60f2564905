import type { Span } from '../../base/diagnostic.ts'
import type { MarkdownBlock, HeadingBlock, ItemBlock } from './blocks.ts'

/**
 * Finds the headings of ordinary Markdown by one pattern, about a hundred times as fast as a parser. It never guesses:
 * if the Markdown parser, which is the reference, might read something differently, it returns null.
 *
 * The reason why this is possible: a line that begins in the first column with `#` and is not inside a fence or an
 * HTML block ends every list, quote and paragraph before it. So only fences, HTML blocks and underlined headings need
 * care, and only those that do not begin in the first column are ambiguous.
 */
export function scanHeadings(source: string, from: number): readonly HeadingBlock[] | null {
  if (hasLoneLineEnd(source)) return null
  const headings: HeadingBlock[] = []
  let next: number | null = Math.max(0, from - 1)
  while (next !== null) {
    SPECIAL_LINE.lastIndex = next
    const match = SPECIAL_LINE.exec(source)
    if (match === null) return headings
    const [all, indent = '', marks, fence, comment, underline] = match
    next = match.index + all.length
    if (underline !== undefined) {
      if (mayBeUnderlined(source, from, match.index)) return null
    } else if (fence !== undefined) {
      next =
        indent === ''
          ? fenceEnd(source, next, fence)
          : indentedFenceEnd(source, next, { indent, marks: fence })
    } else if (indent !== '') return null
    else if (comment !== undefined) next = commentEnd(source, next - comment.length)
    else if (marks !== undefined) headings.push(headingAt(source, next - marks.length, marks.length))
    else return null
  }
  return null
}

/** A line that may begin a heading, a fence, a comment or other HTML, or underline a heading. */
const SPECIAL_LINE =
  /(?:^|\n)( {0,3})(?:(#{1,6})(?=[ \t\r\n]|$)|(`{3,}(?![^\n]*`)|~{3,})|(<!--)|<[A-Za-z/!?]|((?:-+|=+)[ \t]*(?=[\r\n]|$)))/g

/** Whether the line before a line feed may be the text of a heading: not if it is blank, or no paragraph. */
function mayBeUnderlined(source: string, from: number, feed: number): boolean {
  const line = source.slice(Math.max(from, source.lastIndexOf('\n', feed - 1) + 1), feed)
  return !/^(?:[ \t\r]*$|#{1,6}(?:[ \t\r]|$)|>|[-*+] [ \t]*[^ \t\r])/.test(line)
}

function headingAt(source: string, start: number, depth: number): HeadingBlock {
  const from = start + depth
  const end = trimmedEnd(source, from, lineEnd(source, start).text)
  const closing = source.slice(from, end).search(/[ \t]#+$/)
  const textEnd = closing < 0 ? end : trimmedEnd(source, from, from + closing)
  const textStart = from + source.slice(from, textEnd).search(/[^ \t]|$/)
  return { kind: 'heading', depth, span: { start, end }, text: { start: textStart, end: textEnd } }
}

/** The end of a fence, from its first line on. */
function fenceEnd(source: string, at: number, marks: string): number {
  const close = new RegExp(String.raw`\n {0,3}${marks}${marks[0]}*[ \t]*(?=\r?\n|$)`, 'g')
  close.lastIndex = at
  return close.test(source) ? close.lastIndex : source.length
}

/**
 * The end of a fence that is indented, as in a list, if it ends at the same line wherever it stands: all of it is
 * indented as far, and nothing in it looks like its end in a deeper list. Null for anything else.
 */
function indentedFenceEnd(
  source: string,
  at: number,
  { indent, marks }: { indent: string; marks: string },
): number | null {
  // HTML that begins in a list or a quote may hold the fence, up to the next heading in the first column.
  if (OPENS_HTML.test(source.slice(source.lastIndexOf('\n#', at) + 1, at))) return null
  const close = String.raw`${marks}${marks[0]}*[ \t]*(?=\r?\n|$)`
  const inside = String.raw`\n(?:[ \t]*(?=\r?\n)\r?|${indent}(?![ \t]*(?:${close}|\r?\n))[^\n]*)`
  const rest = new RegExp(String.raw`[^\n]*(?:${inside})*\n${indent} {0,${3 - indent.length}}${close}`, 'y')
  rest.lastIndex = at
  return rest.test(source) ? rest.lastIndex : null
}

const OPENS_HTML = /^[\s>*+\d.)-]*<[A-Za-z/!?]/m

/** The end of the line in which a comment ends. */
function commentEnd(source: string, at: number): number {
  const close = source.indexOf('-->', at + 2)
  return close < 0 ? source.length : lineEnd(source, close).text
}

/** The kinds of lines that show by their beginning what they are. */
const LINES = Object.entries({
  blank: /^[ \t]*$/,
  item: /^[-*+] (?:(?:\*\*)?[A-Za-z\x80-\uffff]|`{1,2}(?!`)|\[(?!.*\]:)|(?!\d{1,9}[.)](?:[ \t]|$))\d)/s,
  text: /^(?:\||(?:\*\*|__)?[A-Za-z\x80-\uffff])/,
  quote: /^>/,
  comment: /^<!--/,
})

/**
 * The blocks between two headings, if each line shows its kind by its beginning: a bullet of one line, a line of a
 * paragraph or of a table, a quote, a comment. Null if a line may continue the one before it in another way, or is
 * anything else.
 */
export function scanBlocks(source: string, span: Span): readonly MarkdownBlock[] | null {
  const blocks: MarkdownBlock[] = []
  let items: ItemBlock[] = []
  let last = 'blank'
  let textStart = 0
  for (let at = span.start; at < span.end;) {
    const line = lineEnd(source, at)
    const text = source.slice(at, line.text)
    const kind = LINES.find(([, begins]) => begins.test(text))?.[0]
    if (kind === undefined || isUnclear(last, kind)) return null
    const end = trimmedEnd(source, at, line.text)
    if (kind === 'text') {
      if (last === 'text') blocks.pop()
      else textStart = at
      blocks.push({ kind, span: { start: textStart, end } })
    }
    if (kind === 'item') {
      if (blocks.at(-1)?.kind !== 'list') blocks.push({ kind: 'list', items: (items = []) })
      items.push({
        span: { start: at, end },
        text: { start: at + '- '.length, end },
        inner: null,
        nested: [],
      })
    }
    last = kind
    at = kind === 'comment' ? lineEnd(source, commentEnd(source, at)).next : line.next
  }
  return blocks
}

/** Text continues a bullet or quote above it; a bullet below text or a quote is left to the parser. */
function isUnclear(last: string, kind: string): boolean {
  if (kind === 'text') return last === 'item' || last === 'quote'
  return kind === 'item' && (last === 'text' || last === 'quote')
}

/** A carriage return alone ends a line in Markdown; such files are rare and left to the parser. */
export function hasLoneLineEnd(source: string): boolean {
  return source.includes('\r') && /\r(?!\n)/.test(source)
}

/** The end of the line's text, and the start of the next line. */
export function lineEnd(source: string, at: number): { text: number; next: number } {
  const feed = source.indexOf('\n', at)
  if (feed < 0) return { text: source.length, next: source.length }
  return { text: feed > at && source[feed - 1] === '\r' ? feed - 1 : feed, next: feed + 1 }
}

/** The end of a text without the blanks at its end. */
function trimmedEnd(source: string, start: number, end: number): number {
  while (end > start && (source[end - 1] === ' ' || source[end - 1] === '\t')) end--
  return end
}
