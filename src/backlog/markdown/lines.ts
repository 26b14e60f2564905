import type { Span } from '../../base/diagnostic.ts'

/** One line of a Markdown text, and what it is; where CommonMark is ambiguous, `html`. */
export interface Line {
  /** Without its ending. */
  readonly text: string
  readonly at: number
  readonly kind: LineKind
}

/** A `fence` is a line with marks, `fenced` what is between two of them, and `code` is indented. */
type LineKind =
  'blank' | 'text' | 'item' | 'heading' | 'rule' | 'quote' | 'fence' | 'fenced' | 'code' | 'comment' | 'html'

/** The lines of a Markdown text, in one pass, linear in the text. */
export function* linesOf(text: string): Iterable<Line> {
  const scan = new BlockScan()
  for (const { index: at, 1: line = '', 2: ending } of text.matchAll(/([^\r\n]*)(\r\n|\n|\r|$)/g)) {
    yield { text: line, at, kind: scan.read(line) }
    if (ending === '') return
  }
}

/** The text that closes a fence or HTML which is open at the end of a text and would include what follows; null if none is. */
export function unclosed(text: string): string | null {
  const scan = new BlockScan()
  for (const line of text.split(LINE_END)) scan.read(line)
  return scan.closing
}

/** Whether a line can be read as text alone: neither code, nor a quote, nor HTML. */
export function isText({ kind }: Line): boolean {
  return kind === 'text' || kind === 'item' || kind === 'heading' || kind === 'rule'
}

const LINE_END = /\r\n|\n|\r/

/** The lines that are text, and not inside a possible code span or HTML either. */
export function findOpenLines(lines: readonly Line[]): ReadonlySet<Line> {
  const inSpan = findSpans(lines.map(({ text }) => text))
  return new Set(lines.filter((line, index) => isText(line) && !inSpan.has(index)))
}

/** The YAML between two `---` lines at the start of a text, and the offset of what follows; null if there is none. */
export function frontmatterIn(source: string): { readonly yaml: Span; readonly end: number } | null {
  const open = /^\ufeff?---[ \t]*(?:\r\n|\n|\r)/.exec(source)
  if (open === null) return null
  const close = /^(?:---|\.\.\.)[ \t]*(?:\r\n|\n|\r|$(?![\s\S]))/gm
  close.lastIndex = open[0].length
  const match = close.exec(source)
  return match && { yaml: { start: open[0].length, end: match.index }, end: match.index + match[0].length }
}

/** A list item, perhaps with a check box. */
interface Item {
  /** The blanks before its bullet. */
  readonly indent: string
  readonly box: ' ' | 'x' | null
  /** The offset of the mark in its box. */
  readonly markAt: number
  readonly text: string
}

/** Reads a line as a list item; null if it has no bullet. */
export function itemIn(line: string): Item | null {
  const [all, indent = '', bullet = '', mark, text = ''] = ITEM_LINE.exec(line) ?? []
  if (all === undefined) return null
  const box = mark === undefined ? null : mark === ' ' ? ' ' : 'x'
  return { indent, box, markAt: indent.length + bullet.length + 1, text }
}

const ITEM_LINE = /^([ \t]*)((?:[-*+]|\d{1,9}[.)])[ \t]+)(?:\[([ xX])\][ \t]+)?(.*)$/

/** A line without bullets, a check box, and blanks around it. */
export function withoutBullet(line: string): string {
  return line.replace(/^[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(?:\[[ xX]\][ \t]+)?/, '').trim()
}

/** A fence or an HTML block that is open until its end, or the end of its container. */
interface OpenBlock {
  readonly offset: number
  readonly kind: 'fence' | 'comment' | 'html'
  readonly ends: (line: string, indent: number) => boolean
  /** The text that closes it; null for HTML that a blank line ends. */
  readonly closing: string | null
}

const FENCE = /^(?:(`{3,})[^`]*|(~{3,}).*)$/
const RULE = /^(?:(?:-[ ]*){3,}|(?:\*[ ]*){3,}|(?:_[ ]*){3,})$/
const HEADING = /^#{1,6}(?: |$)/
const UNDERLINE = /^(?:=+|-+) *$/
const ITEM = /^(?:[-+*]|(\d{1,9})[.)])(?= |$)/

/** The start of each kind of HTML block, what ends it, and one way to close it: the CommonMark specification, 4.6. */
const HTML: readonly (readonly [RegExp, RegExp, string])[] = [
  [/^<(?:script|pre|style|textarea)(?:[ >]|$)/i, /<\/(?:script|pre|style|textarea)>/i, '</pre>'],
  [/^<!--/, /-->/, '-->'],
  [/^<\?/, /\?>/, '?>'],
  [/^<![a-z]/i, />/, '>'],
  [/^<!\[CDATA\[/, /\]\]>/, ']]>'],
]
const HTML_TAG =
  /^<\/?(?:address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul)(?:[ >]|\/>|$)/i
const ANY_TAG =
  /^(?:<[a-z][a-z0-9-]*(?: +[a-z_:][\w.:-]*(?: *= *(?:[^ "'=<>`]+|'[^']*'|"[^"]*"))?)* *\/?>|<\/[a-z][a-z0-9-]* *>) *$/i

/** Beyond this depth nothing counts as text. */
const DEEPEST = 100

class BlockScan {
  /** Where the content of each open list item begins. */
  #items: number[] = []
  /** Whether the innermost item is empty so far. */
  #emptyItem = false
  #block: OpenBlock | null = null
  #quoted = false
  #paragraph = false
  /** Whether the last line that was not blank was indented code. */
  #indentedCode = false
  #lost = false

  /** What closes the block that is open now, and that no list item ends. */
  get closing(): string | null {
    return this.#block?.offset === 0 ? this.#block.closing : null
  }

  read(text: string): LineKind {
    const line = text.includes('\t') ? expandTabs(text) : text
    const indent = line.search(/[^ ]/)
    if (this.#lost) return 'html'
    if (this.#block && (indent === -1 || indent >= this.#block.offset)) {
      const { kind, ends } = this.#block
      const isEnd = ends(line, indent)
      if (isEnd) this.#block = null
      return kind === 'fence' && !isEnd ? 'fenced' : kind
    }
    this.#block = null
    return indent === -1 ? this.#blank() : this.#content(line, indent)
  }

  #blank(): LineKind {
    if (this.#emptyItem) this.#items.pop()
    this.#emptyItem = this.#paragraph = this.#quoted = false
    return 'blank'
  }

  #content(line: string, indent: number): LineKind {
    const beyond = this.#items.findIndex((offset) => offset > indent)
    const inside = beyond === -1 ? this.#items.length : beyond
    const deep = indent - (this.#items[inside - 1] ?? 0) >= 4
    const text = line.slice(indent)
    const leaves = inside < this.#items.length
    const goesOn = this.#quoted || (this.#paragraph && leaves)
    if (goesOn && (deep || !startsBlock(text))) return this.#lazyLine(text)
    if (leaves) {
      this.#items.length = inside
      this.#paragraph = this.#quoted = false
    }
    if (deep) {
      this.#indentedCode = !this.#paragraph
      return 'code'
    }
    const kind = this.#open(line, indent)
    this.#indentedCode = false
    return kind
  }

  /**
   * A line without the marks of its container continues a paragraph. Two cases are not distinguished, as neither is
   * text: whether a quote's last line is in a paragraph, and what a tag is here, on which parsers differ.
   */
  #lazyLine(text: string): LineKind {
    if (ANY_TAG.test(text)) this.#lost = true
    if (this.#lost) return 'html'
    return this.#quoted ? 'quote' : 'text'
  }

  #open(line: string, indent: number): LineKind {
    const text = line.slice(indent)
    const offset = this.#items.at(-1) ?? 0
    this.#emptyItem = false
    this.#quoted = text.startsWith('>')
    const wasParagraph = this.#paragraph
    const block = this.#quoted || indent - offset >= 4 ? null : this.#blockAt(text, offset)
    this.#paragraph = this.#paragraph && !this.#quoted && !block
    if (this.#quoted) return 'quote'
    if (indent - offset >= 4) return 'code'
    // The same line may end it, unless it is a fence, which needs another line.
    if (block && (block.kind === 'fence' || !block.ends(text, 0))) this.#block = block
    if (block) return block.kind
    if (wasParagraph && UNDERLINE.test(text)) return this.#notParagraph('heading')
    if (RULE.test(text)) return this.#notParagraph('rule')
    if (HEADING.test(text)) return this.#notParagraph('heading')
    const mark = this.#itemIn(text)
    if (mark !== undefined) return this.#openItem(line, indent, mark)
    this.#paragraph = true
    return 'text'
  }

  #notParagraph(kind: LineKind): LineKind {
    this.#paragraph = false
    return kind
  }

  #blockAt(text: string, offset: number): OpenBlock | null {
    const fence = FENCE.exec(text)
    const marks = fence?.[1] ?? fence?.[2]
    if (marks !== undefined) {
      const end = new RegExp(`^${marks[0]}{${marks.length},} *$`)
      const ends: OpenBlock['ends'] = (line, indent) =>
        indent - offset < 4 && indent !== -1 && end.test(line.slice(indent))
      return { offset, kind: 'fence', ends, closing: marks }
    }
    const [, end, closing = null] = HTML.find(([start]) => start.test(text)) ?? []
    const kind = closing === '-->' ? 'comment' : 'html'
    if (end) return { offset, kind, ends: (line) => end.test(line), closing }
    const isTag = HTML_TAG.test(text) || (!this.#paragraph && ANY_TAG.test(text))
    return isTag ? { offset, kind, ends: (_, indent) => indent === -1, closing } : null
  }

  /** The mark of an item; only the first item of a list that is not empty ends a paragraph. */
  #itemIn(text: string): string | undefined {
    const [mark, number] = ITEM.exec(text) ?? []
    if (mark === undefined || !this.#paragraph) return mark
    const interrupts = (number === undefined || Number(number) === 1) && text.length > mark.length + 1
    return interrupts && text.slice(mark.length).trim() !== '' ? mark : undefined
  }

  #openItem(line: string, indent: number, mark: string): LineKind {
    const begin = indent + mark.length
    const spaces = line.slice(begin).search(/[^ ]/)
    this.#paragraph = false
    this.#items.push(begin + (spaces > 4 || spaces === -1 ? 1 : spaces))
    this.#emptyItem = spaces === -1
    // Parsers differ on whether an empty item may follow indented code.
    if (this.#items.length > DEEPEST || (this.#emptyItem && this.#indentedCode)) this.#lost = true
    if (this.#lost || this.#emptyItem) return 'html'
    const kind = this.#open(line, begin + spaces)
    return kind === 'text' ? 'item' : kind
  }
}

/** Whether this ends a paragraph of a quote or an item that does not contain the line. */
function startsBlock(text: string): boolean {
  if (text.startsWith('>') || HTML.some(([start]) => start.test(text))) return true
  return [FENCE, RULE, HEADING, HTML_TAG, ITEM].some((start) => start.test(text))
}

/**
 * The lines on which a code span or a piece of HTML from an earlier line of the paragraph may still be open: between
 * two equal runs of backticks, or between `<` and `>`.
 */
function findSpans(lines: readonly string[]): Set<number> {
  const covered = new Set<number>()
  let first = 0
  for (let index = 0; index <= lines.length; index++) {
    if (index < lines.length && lines[index]!.trim() !== '') continue
    coverSpans(lines, first, index, covered)
    first = index + 1
  }
  return covered
}

function coverSpans(lines: readonly string[], first: number, end: number, covered: Set<number>): void {
  const opened = new Map<string, number>()
  const reach = new Map<string, number>()
  for (let index = first; index < end; index++) {
    for (const [mark] of lines[index]!.replaceAll('<TASK_', '').matchAll(/\\?`+|[<>]/g)) {
      // An escaped run is one shorter when it opens a span, and not when it closes one.
      const opens = mark.startsWith('\\') ? mark.slice(2) : mark
      const closes = mark === '>' ? '<' : mark.replace('\\', '')
      if (opened.has(closes)) reach.set(closes, index)
      for (const run of [opens, closes]) if (!opened.has(run)) opened.set(run, index)
    }
  }
  const ends = new Map<number, number>()
  for (const [mark, to] of reach) ends.set(opened.get(mark)!, Math.max(ends.get(opened.get(mark)!) ?? 0, to))
  let until = first
  for (let index = first; index < end; index++) {
    if (index < until) covered.add(index)
    until = Math.max(until, ends.get(index) ?? 0)
  }
}

/** Expands tabs to the next multiple of four. */
function expandTabs(line: string): string {
  let expanded = ''
  for (const [index, part] of line.split('\t').entries()) {
    if (index > 0) expanded += ' '.repeat(4 - (expanded.length % 4))
    expanded += part
  }
  return expanded
}
