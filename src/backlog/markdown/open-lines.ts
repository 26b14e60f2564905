/**
 * Which lines of a Markdown text are open: not in a code block, a quote, a comment or other HTML, and not inside a
 * possible code span. If CommonMark is ambiguous, a line is not open. One pass, linear in the text.
 */
export function findOpenLines(lines: readonly string[]): OpenLines {
  const scan = new BlockScan()
  const kinds = lines.map((line) => scan.read(line.includes('\t') ? expandTabs(line) : line))
  const inSpan = findSpans(lines)
  return {
    isOpen: (index) => kinds[index] === 'text' && !inSpan.has(index),
    isText: (index) => kinds[index] === 'text',
  }
}

interface OpenLines {
  /** Whether text alone on that line is read as text. */
  isOpen(index: number): boolean
  /** The same for the end of the last line, after which no span can be closed. */
  isText(index: number): boolean
}

type Openness = 'text' | 'closed'

/** A fence or an HTML block that is open until its end, or the end of its container. */
interface OpenBlock {
  readonly offset: number
  readonly ends: (line: string, indent: number) => boolean
}

const FENCE = /^(?:(`{3,})[^`]*|(~{3,}).*)$/
const RULE = /^(?:(?:-[ ]*){3,}|(?:\*[ ]*){3,}|(?:_[ ]*){3,})$/
const HEADING = /^#{1,6}(?: |$)/
const UNDERLINE = /^(?:=+|-+) *$/
const ITEM = /^(?:[-+*]|(\d{1,9})[.)])(?= |$)/

/** The start of each kind of HTML block, and what ends it: the CommonMark specification, 4.6. */
const HTML: readonly (readonly [RegExp, RegExp])[] = [
  [/^<(?:script|pre|style|textarea)(?:[ >]|$)/i, /<\/(?:script|pre|style|textarea)>/i],
  [/^<!--/, /-->/],
  [/^<\?/, /\?>/],
  [/^<![a-z]/i, />/],
  [/^<!\[CDATA\[/, /\]\]>/],
]
const HTML_TAGS =
  'address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul'
const HTML_TAG = new RegExp(`^</?(?:${HTML_TAGS})(?:[ >]|/>|$)`, 'i')
const ANY_TAG =
  /^(?:<[a-z][a-z0-9-]*(?: +[a-z_:][\w.:-]*(?: *= *(?:[^ "'=<>`]+|'[^']*'|"[^"]*"))?)* *\/?>|<\/[a-z][a-z0-9-]* *>) *$/i

/** Beyond this depth nothing counts as open. */
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

  read(line: string): Openness {
    if (this.#lost) return 'closed'
    const indent = line.search(/[^ ]/)
    if (this.#block) {
      const leaves = indent !== -1 && indent < this.#block.offset
      if (!leaves) return this.#inBlock(this.#block, line, indent)
      this.#block = null
    }
    return indent === -1 ? this.#blank() : this.#content(line, indent)
  }

  #inBlock(block: OpenBlock, line: string, indent: number): Openness {
    if (block.ends(line, indent)) this.#block = null
    return 'closed'
  }

  #blank(): Openness {
    if (this.#emptyItem) this.#items.pop()
    this.#emptyItem = this.#paragraph = false
    this.#quoted = false
    return 'closed'
  }

  #content(line: string, indent: number): Openness {
    const beyond = this.#items.findIndex((offset) => offset > indent)
    const inside = beyond === -1 ? this.#items.length : beyond
    const deep = indent - (this.#items[inside - 1] ?? 0) >= 4
    const text = line.slice(indent)
    const leaves = inside < this.#items.length
    const goesOn = this.#quoted || (this.#paragraph && leaves)
    if (goesOn && (deep || !startsBlock(text))) return this.#lazyLine(text)
    if (leaves) this.#leaveItems(inside)
    if (deep) {
      this.#indentedCode = !this.#paragraph
      return 'closed'
    }
    const kind = this.#open(line, indent)
    this.#indentedCode = false
    return kind
  }

  /**
   * A line without the marks of its container continues a paragraph. Two cases are not distinguished, as both end in
   * `closed`: whether a quote's last line is in a paragraph, and what a tag is here, on which parsers differ.
   */
  #lazyLine(text: string): Openness {
    if (ANY_TAG.test(text)) this.#lost = true
    return this.#quoted || this.#lost ? 'closed' : 'text'
  }

  #leaveItems(inside: number): void {
    this.#items.length = inside
    this.#paragraph = this.#quoted = false
  }

  #open(line: string, indent: number): Openness {
    const text = line.slice(indent)
    this.#emptyItem = false
    this.#quoted = text.startsWith('>')
    if (this.#quoted) {
      this.#paragraph = false
      return 'closed'
    }
    if (indent - (this.#items.at(-1) ?? 0) >= 4) return 'closed'
    if (this.#openBlock(text)) return 'closed'
    const isUnderline = this.#paragraph && UNDERLINE.test(text)
    if (isUnderline || RULE.test(text) || HEADING.test(text)) {
      this.#paragraph = false
      return 'text'
    }
    const mark = this.#itemIn(text)
    if (mark !== undefined) return this.#openItem(line, indent, mark)
    this.#paragraph = true
    return 'text'
  }

  #openBlock(text: string): boolean {
    const ends = this.#fenceEnd(text) ?? this.#htmlEnd(text)
    if (!ends) return false
    this.#paragraph = false
    // The same line may end it, unless it is a fence, which needs another line.
    if (FENCE.test(text) || !ends(text, 0)) this.#block = { offset: this.#items.at(-1) ?? 0, ends }
    return true
  }

  #fenceEnd(text: string): OpenBlock['ends'] | undefined {
    const match = FENCE.exec(text)
    const fence = match?.[1] ?? match?.[2]
    if (!fence) return undefined
    const offset = this.#items.at(-1) ?? 0
    const end = new RegExp(`^${fence[0]}{${fence.length},} *$`)
    return (line, indent) => indent - offset < 4 && indent !== -1 && end.test(line.slice(indent))
  }

  #htmlEnd(text: string): OpenBlock['ends'] | undefined {
    const end = HTML.find(([start]) => start.test(text))?.[1]
    if (end) return (line) => end.test(line)
    const isTag = HTML_TAG.test(text) || (!this.#paragraph && ANY_TAG.test(text))
    return isTag ? (_, indent) => indent === -1 : undefined
  }

  /** The mark of an item; only the first item of a list that is not empty ends a paragraph. */
  #itemIn(text: string): string | undefined {
    const [mark, number] = ITEM.exec(text) ?? []
    if (mark === undefined || !this.#paragraph) return mark
    const interrupts = (number === undefined || Number(number) === 1) && text.length > mark.length + 1
    return interrupts && text.slice(mark.length).trim() !== '' ? mark : undefined
  }

  #openItem(line: string, indent: number, mark: string): Openness {
    const begin = indent + mark.length
    const spaces = line.slice(begin).search(/[^ ]/)
    this.#paragraph = false
    this.#items.push(begin + (spaces > 4 || spaces === -1 ? 1 : spaces))
    this.#emptyItem = spaces === -1
    // Parsers differ on whether an empty item may follow indented code.
    if (this.#items.length > DEEPEST || (this.#emptyItem && this.#indentedCode)) this.#lost = true
    if (this.#lost || this.#emptyItem) return 'closed'
    return this.#open(line, begin + spaces)
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
