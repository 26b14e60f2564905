import { type Criterion } from '../../backlog/draft.ts'
import { itemIn, type Line, linesOf } from '../../backlog/markdown/lines.ts'
import { milestoneOf } from '../../backlog/milestone.ts'
import { foreignDraft, titleOf, type Format } from './format.ts'
import { slugKeys } from './implementation.ts'
import type { Edit, Source } from './source.ts'

/** Any Markdown file with check boxes: a heading is a milestone, an item a task, and nested items are its criteria. */
export const checklist: Format = {
  about: 'a check list in Markdown',
  find(path, sources) {
    const source = /\.(?:md|markdown)$/i.test(path) ? sources.open(path) : null
    return source && readBoxes(source.text).length > 0 ? path : null
  },
  read(path, sources) {
    const source = sources.open(path)
    const items = source ? boxesOf(source) : []
    const keys = slugKeys(
      items.map(({ text }) => text),
      'item',
    )
    const headings = [...new Set(items.flatMap(({ heading }) => heading ?? []))]
    const [first] = headings
    const isTitled = headings.length === 1 && first?.depth === 1
    return {
      tasks: items.map((item, index) => {
        const key = keys[index]!
        const { text, isTicked, heading, at } = item
        const name = heading?.text.replaceAll(/[*_`]/g, '').trim() ?? ''
        const intro = heading?.intro.trim() ?? ''
        return {
          key,
          draft: () =>
            foreignDraft({
              key,
              title: titleOf(text),
              status: isTicked ? 'DONE' : 'TODO',
              milestone: heading && !isTitled ? milestoneOf(name, headings.indexOf(heading) + 1) : null,
              description: descriptionOf(item),
              background: intro === '' ? [] : [[`About ${name}`, intro]],
              criteria: criteriaIn(item),
              tags: item.isOptional ? [OPTIONAL] : [],
              place: source!.placeOf(at),
            }),
          write: ({ status }) => ticked(source!, item, status === 'DONE'),
        }
      }),
    }
  },
}

/** An item's text, and the text below it. */
export function descriptionOf({ text, below }: BoxItem): string {
  return [text, below.trimEnd()].filter(Boolean).join('\n\n')
}

/** The items nested in an item at any depth, as criteria. */
export function criteriaIn({ nested }: Pick<BoxItem, 'nested'>): readonly Criterion[] {
  const criteria: Criterion[] = []
  // A list may be nested more deeply than functions can be.
  const ahead = nested.toReversed()
  for (let item = ahead.pop(); item; item = ahead.pop()) {
    criteria.push({ text: item.text, met: item.isTicked })
    ahead.push(...item.nested.toReversed())
  }
  return criteria
}

/** The tag of a task that may be left out. */
export const OPTIONAL = 'optional'

/** Checks or unchecks an item's box; one in progress stays so until it is done. */
export function ticked(
  source: Source,
  { mark, markAt, isTicked }: BoxItem,
  isDone: boolean,
): readonly Edit[] {
  if (isTicked === isDone) return []
  return [{ source, start: markAt, end: markAt + mark.length, text: isDone ? 'x' : ' ' }]
}

/** The items of a file; a box with an unknown mark is reported. */
export function boxesOf(source: Source): readonly BoxItem[] {
  const items = readBoxes(source.text)
  // A list may be nested more deeply than functions can be.
  const ahead = items.toReversed()
  for (let item = ahead.pop(); item; item = ahead.pop()) {
    const { mark, markAt, nested } = item
    if (!KNOWN_MARKS.test(mark))
      source.report(
        markAt - 1,
        `ralph does not know the box [${mark}]: its item counts as not done`,
        'warning',
      )
    ahead.push(...nested.toReversed())
  }
  return items
}

const DONE_MARKS = /^[xX✓✔✅☑√]/u
/** Besides those that are done, the marks of what is not: open, in progress, queued. */
const KNOWN_MARKS = /^(?:[xX✓✔✅☑√].*|[ ~>/-]?)$/u

/** A list item with a check box, with the content and the heading above it. */
export interface BoxItem {
  /** Its text, with wrapped lines joined. */
  readonly text: string
  readonly isTicked: boolean
  /** Whether it may be left out: `[ ]*`. */
  readonly isOptional: boolean
  /** What its box holds, and the offset of that. */
  readonly mark: string
  readonly markAt: number
  readonly at: number
  readonly heading: BoxHeading | null
  readonly nested: readonly BoxItem[]
  /** Text below it that is no item, in Markdown. */
  readonly below: string
}

/** A heading, and the text between it and its first item, in Markdown. */
interface BoxHeading extends PlainHeading {
  readonly intro: string
}

/** A heading of a Markdown text, and the offset of the text below it. */
export interface PlainHeading {
  readonly text: string
  readonly depth: number
  readonly at: number
  readonly bodyAt: number
}

interface Open extends BoxItem {
  text: string
  below: string
  readonly nested: Open[]
  readonly indent: number
}

/** The items with check boxes in a Markdown text, except in fences and comments. */
export function readBoxes(text: string): readonly BoxItem[] {
  const found: Open[] = []
  const open: Open[] = []
  let heading: { -readonly [K in keyof BoxHeading]: BoxHeading[K] } | null = null
  let isAfterBlank = false
  for (const line of linesOf(text)) {
    const title = headingIn(line)
    if (title) {
      heading = { ...title, intro: '' }
      open.length = 0
      continue
    }
    const indent = widthOf(line.text)
    const item = boxIn(line)
    if (item) {
      while (open.length > 0 && open.at(-1)!.indent >= indent) open.pop()
      const at = line.at + line.text.search(/\S/)
      const box: Open = { ...item, at, heading, nested: [], below: '', indent }
      ;(open.at(-1)?.nested ?? found).push(box)
      open.push(box)
    } else if (isBlank(line)) {
      const inner = open.at(-1)
      if (inner?.below) inner.below += '\n'
    } else {
      if (isAfterBlank) while (open.length > 0 && indent <= open.at(-1)!.indent) open.pop()
      const inner = open.at(-1)
      if (inner) addLine(inner, line, isAfterBlank)
      else if (heading) heading.intro += `${line.text}\n`
    }
    isAfterBlank = isBlank(line)
  }
  return found
}

/** Adds a line that continues an item's text, or is below it. */
function addLine(item: Open, line: Line, isAfterBlank: boolean): void {
  const text = line.text.trimStart()
  const isBelow = isLiteral(line) || isAfterBlank || item.below !== '' || itemIn(line.text) !== null
  if (isBelow) item.below += `${line.text.slice(Math.min(line.text.length - text.length, item.indent + 2))}\n`
  else item.text += ` ${text.trimEnd()}`
}

/** The headings of a Markdown text, except in fences and comments. */
export function readHeadings(text: string): readonly PlainHeading[] {
  return [...linesOf(text)].flatMap((line) => headingIn(line) ?? [])
}

/** A text without its items and the text below each. */
export function withoutBoxes(text: string): string {
  const kept: string[] = []
  let indent = Infinity
  for (const line of linesOf(text)) {
    const isBelow = isBlank(line) ? indent < Infinity : widthOf(line.text) > indent
    if (boxIn(line)) indent = isBelow ? indent : widthOf(line.text)
    else if (!isBelow) {
      indent = Infinity
      kept.push(isBlank(line) ? '' : line.text)
    }
  }
  return kept.join('\n').trim()
}

/** A letter in brackets is a mark of something else: `[P]`. */
const BOX = /^([ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[)([xX]|[^\p{L}\p{N}\s\][]\uFE0F?|[ ]?)\](\*?)[ \t]+(\S.*)$/u

function boxIn(line: Line): Pick<BoxItem, 'text' | 'isTicked' | 'isOptional' | 'mark' | 'markAt'> | null {
  const [, before = '', mark = '', star, text] = (!isLiteral(line) && BOX.exec(line.text)) || []
  if (text === undefined) return null
  return {
    text: text.trim(),
    isTicked: DONE_MARKS.test(mark),
    isOptional: star === '*',
    mark,
    markAt: line.at + before.length,
  }
}

function headingIn({ kind, text, at }: Line): PlainHeading | null {
  const [, marks = '', title = ''] = /^(#{1,6})[ \t]+(.*?)[ \t]*#*$/.exec(text) ?? []
  if (kind !== 'heading' || marks === '') return null
  return { text: title, depth: marks.length, at, bodyAt: at + text.length }
}

function isLiteral({ kind }: Line): boolean {
  return kind === 'fence' || kind === 'fenced' || kind === 'comment'
}

/** Whether nothing is on a line, or only a comment. */
function isBlank({ kind, text }: Line): boolean {
  return text.trim() === '' || (kind === 'comment' && /^\s*<!--.*-->\s*$/.test(text))
}

function widthOf(line: string): number {
  return /^[ \t]*/.exec(line)![0].replaceAll('\t', '    ').length
}
