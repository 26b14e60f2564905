/** A list item with a check box, with the content and the heading above it. */
export interface BoxItem {
  /** Its text, with wrapped lines joined. */
  readonly text: string
  readonly isTicked: boolean
  /** The offset of the mark in its box. */
  readonly markAt: number
  readonly at: number
  readonly heading: BoxHeading | null
  readonly nested: readonly BoxItem[]
  /** Text below it that is no item, in Markdown. */
  readonly below: string
}

export interface BoxHeading {
  readonly text: string
  readonly depth: number
  readonly at: number
  /** The text between it and its first item, in Markdown. */
  readonly intro: string
}

interface Open {
  text: string
  readonly isTicked: boolean
  readonly markAt: number
  readonly at: number
  readonly heading: { text: string; depth: number; at: number; intro: string } | null
  readonly nested: Open[]
  below: string
  readonly indent: number
}

const ITEM = /^([ \t]*)(?:[-*+]|\d{1,9}[.)])[ \t]+\[([ xX])\][ \t]+(\S.*)$/
const PLAIN_ITEM = /^([ \t]*)(?:[-*+]|\d{1,9}[.)])[ \t]+(\S.*)$/
const HEADING = /^(#{1,6})[ \t]+(.*?)[ \t]*#*$/
const FENCE = /^[ \t]*(`{3,}|~{3,})/

/** The items with check boxes in a Markdown text, except in fences and comments. */
export function readBoxes(text: string): readonly BoxItem[] {
  const found: Open[] = []
  const open: Open[] = []
  let heading: Open['heading'] = null
  let isAfterBlank = false
  for (const { line, at, isLiteral } of linesIn(text)) {
    const title = isLiteral ? null : HEADING.exec(line)
    if (title) {
      heading = { text: title[2]!, depth: title[1]!.length, at, intro: '' }
      open.length = 0
      continue
    }
    const item = isLiteral ? null : ITEM.exec(line)
    if (item) {
      const indent = widthOf(item[1]!)
      const box: Open = {
        text: item[3]!.trim(),
        isTicked: item[2] !== ' ',
        markAt: at + line.indexOf('[') + 1,
        at: at + item[1]!.length,
        heading,
        nested: [],
        below: '',
        indent,
      }
      while (open.length > 0 && open.at(-1)!.indent >= indent) open.pop()
      const parent = open.at(-1)
      if (parent) parent.nested.push(box)
      else found.push(box)
      open.push(box)
      isAfterBlank = false
      continue
    }
    if (line.trim() === '') {
      isAfterBlank = true
      const inner = open.at(-1)
      if (inner?.below) inner.below += '\n'
      continue
    }
    addText({ line, isLiteral, isAfterBlank }, open, heading)
    isAfterBlank = false
  }
  return found
}

/** Adds a line that begins nothing: it continues an item, is below one, or introduces the next. */
function addText(
  { line, isLiteral, isAfterBlank }: { line: string; isLiteral: boolean; isAfterBlank: boolean },
  open: Open[],
  heading: Open['heading'],
): void {
  const indent = widthOf(/^[ \t]*/.exec(line)![0])
  if (isAfterBlank) while (open.length > 0 && indent <= open.at(-1)!.indent) open.pop()
  const item = open.at(-1)
  if (!item) {
    if (heading) heading.intro += `${line}\n`
  } else if (isLiteral || isAfterBlank || item.below !== '' || PLAIN_ITEM.test(line))
    item.below += `${line.slice(Math.min(line.length - line.trimStart().length, item.indent + 2))}\n`
  else item.text += ` ${line.trim()}`
}

interface Line {
  readonly line: string
  readonly at: number
  /** Whether it is in a fence or a comment. */
  readonly isLiteral: boolean
}

/** A heading of a Markdown text, and the offset of the text below it. */
export interface PlainHeading {
  readonly text: string
  readonly depth: number
  readonly at: number
  readonly bodyAt: number
}

/** The headings of a Markdown text, except in fences and comments. */
export function readHeadings(text: string): readonly PlainHeading[] {
  return [...linesIn(text)].flatMap(({ line, at, isLiteral }) => {
    const found = isLiteral ? null : HEADING.exec(line)
    return found ? [{ text: found[2]!, depth: found[1]!.length, at, bodyAt: at + line.length }] : []
  })
}

/** A text without its items and the text below each. */
export function withoutBoxes(text: string): string {
  const kept: string[] = []
  let indent = -1
  for (const { line, isLiteral } of linesIn(text)) {
    const item = isLiteral ? null : ITEM.exec(line)
    const isBelow = indent >= 0 && (line.trim() === '' || widthOf(/^[ \t]*/.exec(line)![0]) > indent)
    if (item) indent = isBelow ? indent : widthOf(item[1]!)
    else if (!isBelow) {
      indent = -1
      kept.push(line)
    }
  }
  return kept.join('\n').trim()
}

function* linesIn(text: string): Iterable<Line> {
  let fence = ''
  let isComment = false
  for (const match of text.matchAll(/([^\r\n]*)(\r\n|\n|\r|$)/g)) {
    const [, line = ''] = match
    if (match.index === text.length && line === '') return
    const wasOpen = fence !== '' || isComment
    const mark = FENCE.exec(line)?.[1]
    if (isComment) isComment = !line.includes('-->')
    else if (fence === '' && mark !== undefined) fence = mark
    else if (fence !== '') {
      const isEnd = mark !== undefined && mark.startsWith(fence) && line.trim() === mark
      if (isEnd) fence = ''
    } else isComment = /<!--(?!.*-->)/.test(line)
    const isMarkLine = /^\s*<!--.*-->\s*$/.test(line)
    yield { line: isMarkLine ? '' : line, at: match.index, isLiteral: wasOpen || fence !== '' || isComment }
  }
}

function widthOf(blanks: string): number {
  return blanks.replaceAll('\t', '    ').length
}

/** The texts of all items below one, at any depth. */
export function nestedTexts(item: BoxItem): readonly BoxItem[] {
  return item.nested.flatMap((inner) => [inner, ...nestedTexts(inner)])
}
