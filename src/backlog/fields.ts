import type { Span } from '../base/diagnostic.ts'
import type { ItemBlock, MarkdownBlock } from './markdown/blocks.ts'
import { type FieldPlace, fieldsInRow, fieldStart } from './field-syntax.ts'
import { blankComments } from './markdown/inline.ts'
import type { Field } from './model.ts'
import { inlineText } from './markdown/reading.ts'
import { tableRows } from './markdown/table.ts'

/** A field before its value is read. */
interface FoundField extends Omit<Field, 'name' | 'value' | 'span'> {
  span: Span
  /** Its item, if it is the first one in it. */
  item: ItemBlock | null
}

interface Keys {
  readonly source: string
  readonly isKnown: (key: string) => boolean
}

/** The fields in blocks. With `isEvery`, a line of a paragraph that looks like a field is one, even with an unknown key. */
export function fieldsIn(blocks: readonly MarkdownBlock[], keys: Keys, isEvery = false): FoundField[] {
  return blocks.flatMap((block) => {
    if (block.kind === 'list') return block.items.flatMap((item) => fieldsOfItem(item, keys))
    return block.kind === 'text' ? fieldsOfText(block.span, keys, isEvery) : []
  })
}

/** The fields in quotes that consist of fields alone; none if a line around them might change their meaning. */
export function fieldsInQuotes({ start, end }: Span, keys: Keys): FoundField[] {
  const block = keys.source.slice(start, end)
  if (HIDES_QUOTE.test(block) || CONTINUES_QUOTE.test(block)) return []
  return [...block.matchAll(QUOTE)].flatMap(({ 0: quote, index }) => {
    const raw = quote.replace(QUOTE_MARKS, (marks) => ' '.repeat(marks.length))
    const lines = fieldLines(raw, () => true)
    const isAll = lines.every(({ key }) => key !== null) && lines.length === raw.match(/^.*\S/gm)?.length
    return isAll ? fieldsOfLines(lines, raw, { base: start + index, keys }) : []
  })
}

const QUOTE = /(?:^>[^\r\n]*(?:\r\n|\n|\r|$))+/gm
const QUOTE_MARKS = /^>[ \t]?(?:[-*+][ \t]+)?/gm
// Inside code, comments or HTML there are no quotes.
const HIDES_QUOTE = /^[ \t]*(?:`{3}|~{3}|<)/m
// A quote continues in the text right below it.
const CONTINUES_QUOTE = /^>[^\r\n]*(?:\r\n|\n|\r)(?!>)[ \t]*[^\s>]/m

function fieldsOfItem(item: ItemBlock, { source, isKnown }: Keys): FoundField[] {
  if (item.text === null) return []
  const raw = source.slice(item.text.start, item.text.end)
  const { key, valueAt } = fieldStart(raw) ?? { key: null, valueAt: 0 }
  const row = fieldsInRow(raw, { key, start: 0, valueAt, end: raw.length }, isKnown)
  const fields = row.flatMap((place) => found(place, item.text!.start, 'item'))
  const [first] = fields
  if (first !== undefined && key !== null) {
    first.item = item
    first.span = { start: item.span.start, end: row.length > 1 ? first.span.end : item.span.end }
  }
  return fields
}

/** The fields that are lines of a paragraph, or rows of a table. */
function fieldsOfText({ start, end }: Span, keys: Keys, isEvery: boolean): FoundField[] {
  const raw = blankComments(keys.source.slice(start, end))
  const rows = tableRows(raw)
  if (rows === null) {
    const lines = fieldLines(raw, isEvery ? () => true : keys.isKnown)
    return fieldsOfLines(lines, raw, { base: start, keys })
  }
  return rows.flatMap(({ isHead, ...row }) => {
    const key = inlineText(row.key).replace(/[:：]\s*$/, '')
    const isTitle = isHead && !keys.isKnown(key) && !/\d/.test(raw.slice(row.valueAt, row.end))
    return isTitle || key === '' ? [] : found({ ...row, key }, start, 'row')
  })
}

function fieldsOfLines(
  lines: readonly FieldPlace[],
  raw: string,
  { base, keys }: { base: number; keys: Keys },
): FoundField[] {
  return lines
    .flatMap((line) => fieldsInRow(raw, line, keys.isKnown))
    .flatMap((place) => found(place, base, 'line'))
}

function found({ key, start, valueAt, end }: FieldPlace, base: number, form: Field['form']): FoundField[] {
  if (key === null) return []
  const span = { start: base + start, end: base + end }
  return [{ key, span, valueSpan: { start: base + valueAt, end: base + end }, form, item: null }]
}

/** The lines of a paragraph that begin with a key, each with the lines that wrap below it. */
function fieldLines(raw: string, isField: (key: string) => boolean): readonly FieldPlace[] {
  const lines: FieldPlace[] = []
  for (const match of raw.matchAll(/[ \t]*([^\r\n]*)(?:\r\n|\n|\r|$)/g)) {
    // A backslash before the next line is a hard break.
    const isLast = match.index + match[0].length >= raw.length
    const text = (isLast ? match[1]! : match[1]!.replace(/\\$/, '')).trimEnd()
    if (text === '') continue
    const start = match.index + match[0].indexOf(match[1]!)
    const end = start + text.length
    const field = fieldStart(text)
    const last = lines.at(-1)
    if (field !== null && (field.bold || isField(field.key)))
      lines.push({ key: field.key, start, valueAt: Math.min(start + field.valueAt, end), end })
    else if (last !== undefined) last.end = end
    else lines.push({ key: null, start, valueAt: start, end })
  }
  return lines
}

/** Whether a text consists of fields alone: bullets, lines and rows that each begin with a key, with indented lines below them. */
export function isAllFields(raw: string): boolean {
  let isField = false
  for (const line of raw.split(/\r\n|\n|\r/)) {
    const isRule = /^(?:-{3,}|\*{3,}|_{3,})[ \t]*$/.test(line)
    if (line.trim() === '' || isRule || (isField && /^(?: {2,}|\t)/.test(line))) continue
    const isRow = /^\|[^|]+\|[^|]*\|[ \t]*$/.test(line)
    isField = isRow || fieldStart(line.replace(/^[-*+][ \t]+/, '')) !== null
    if (!isField) return false
  }
  return isField
}
