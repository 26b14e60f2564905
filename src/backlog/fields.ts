import type { Span } from '../base/diagnostic.ts'
import type { ItemBlock, MarkdownBlock } from './markdown/blocks.ts'
import { fieldsInRow, fieldStart } from './field-syntax.ts'
import { blankComments } from './markdown/inline.ts'
import type { Field, FieldForm, Product, Section } from './model.ts'
import { productOf, splitProducts } from './products.ts'
import type { TaskReading } from './reading.ts'
import { tableRows } from './markdown/table.ts'
import { lookUp, type Vocabulary } from './vocabulary.ts'

/** Collects the fields of a metadata block, in any form, and the fields that stand for sections. */
export class FieldReader<F extends string, S extends string> {
  readonly fields: Field<F>[] = []
  readonly sections: Section<S>[] = []
  readonly lists = new Map<S, readonly Product[]>()
  readonly #reading: TaskReading
  readonly #vocabulary: Vocabulary<F, S>

  constructor(reading: TaskReading, vocabulary: Vocabulary<F, S>) {
    this.#reading = reading
    this.#vocabulary = vocabulary
  }

  /** Reads blocks. With `isEvery`, a line of a paragraph that looks like a field is one, even with an unknown key. */
  read(blocks: readonly MarkdownBlock[], isEvery = false): void {
    for (const block of blocks) {
      if (block.kind === 'list') for (const item of block.items) this.#readItem(item)
      if (block.kind === 'text') this.#readText(block.span, isEvery ? () => true : this.#isKnown)
    }
  }

  /** Reads the quotes that consist of fields alone; none if a line around them might change their meaning. */
  readQuotes({ start, end }: Span): void {
    const block = this.#reading.source.slice(start, end)
    if (HIDES_QUOTE.test(block) || CONTINUES_QUOTE.test(block)) return
    for (const { 0: quote, index } of block.matchAll(QUOTE)) {
      const raw = quote.replace(QUOTE_MARKS, (marks) => ' '.repeat(marks.length))
      const lines = fieldLines(raw, () => true)
      const isAll = lines.every(({ key }) => key !== null) && lines.length === raw.match(/^.*\S/gm)?.length
      if (isAll) this.#addLines(raw, start + index, lines)
    }
  }

  readonly #isKnown = (key: string): boolean => lookUp(this.#vocabulary.fields, key) !== undefined

  #readItem(item: ItemBlock): void {
    if (item.text === null) return
    const raw = this.#sourceAt(item.text)
    const start = fieldStart(raw)
    const valueAt = start?.valueAt ?? 0
    const from = item.text.start + valueAt
    const row = fieldsInRow(raw.slice(valueAt), this.#isKnown)
    if (start !== null) this.#addFirst(item, start.key, { start: from, end: from + row.end })
    this.#addParts(row.parts, from, 'item')
  }

  /** Adds the field at the start of a list item, which may stand for a section, or have a nested list as its value. */
  #addFirst(item: ItemBlock, key: string, valueSpan: Span): void {
    const { fields, sections, fieldSections, lists } = this.#vocabulary
    const section = lookUp(sections, key)
    const nested = item.nested.flatMap(({ text }) => (text ? [this.#sourceAt(text)] : []))
    if (section !== undefined && fieldSections.has(section)) {
      const bodySpan = item.inner ?? valueSpan
      this.sections.push({ name: section, title: key, span: item.span, bodySpan, form: 'field' })
      if (lists.has(section))
        this.lists.set(
          section,
          nested.length > 0
            ? nested.map((raw) => productOf(this.#reading, raw))
            : splitProducts(this.#reading, this.#sourceAt(valueSpan)),
        )
      return
    }
    const values = [this.#sourceAt(valueSpan), ...nested].map((raw) => this.#reading.inlineText(raw))
    const isInRow = item.text !== null && valueSpan.end < item.text.end
    this.fields.push({
      name: lookUp(fields, key) ?? null,
      key,
      value: values.filter((value) => value !== '').join(', '),
      span: isInRow ? { start: item.span.start, end: valueSpan.end } : item.span,
      valueSpan: nested.length > 0 ? { start: valueSpan.start, end: item.span.end } : valueSpan,
      form: 'item',
    })
  }

  /** Reads fields that are lines of a paragraph, or rows of a table. */
  #readText(span: Span, isField: (key: string) => boolean): void {
    const raw = blankComments(this.#sourceAt(span))
    const rows = tableRows(raw)
    if (rows === null) this.#addLines(raw, span.start, fieldLines(raw, isField))
    for (const row of rows ?? []) {
      const key = this.#reading.inlineText(row.key.text).replace(/[:：]\s*$/, '')
      const value = shifted(row.value, span.start)
      const isHead = row.isHead && !this.#isKnown(key) && !/T-\d/i.test(this.#sourceAt(value))
      if (!isHead && key !== '') this.#add(key, shifted(row.span, span.start), value, 'row')
    }
  }

  #addLines(raw: string, base: number, lines: readonly FieldLine[]): void {
    for (const { key, start, valueAt, end } of lines) {
      const row = fieldsInRow(raw.slice(valueAt, end), this.#isKnown)
      const value = shifted({ start: valueAt, end: valueAt + row.end }, base)
      if (key !== null) this.#add(key, { start: base + start, end: value.end }, value, 'line')
      this.#addParts(row.parts, value.start, 'line')
    }
  }

  /** Adds the fields after the first one in a row. */
  #addParts(parts: ReturnType<typeof fieldsInRow>['parts'], from: number, form: FieldForm): void {
    for (const { key, at, valueAt, end } of parts)
      this.#add(key, { start: from + at, end: from + end }, { start: from + valueAt, end: from + end }, form)
  }

  #add(key: string, span: Span, valueSpan: Span, form: FieldForm): void {
    const name = lookUp(this.#vocabulary.fields, key) ?? null
    const value = this.#reading.inlineText(this.#sourceAt(valueSpan))
    this.fields.push({ name, key, value, span, valueSpan, form })
  }

  #sourceAt({ start, end }: Span): string {
    return this.#reading.source.slice(start, end)
  }
}

function shifted({ start, end }: Span, by: number): Span {
  return { start: start + by, end: end + by }
}

const QUOTE = /(?:^>[^\r\n]*(?:\r\n|\n|\r|$))+/gm
const QUOTE_MARKS = /^>[ \t]?(?:[-*+][ \t]+)?/gm
// Inside code, comments or HTML there are no quotes.
const HIDES_QUOTE = /^[ \t]*(?:`{3}|~{3}|<)/m
// A quote continues in the text right below it.
const CONTINUES_QUOTE = /^>[^\r\n]*(?:\r\n|\n|\r)(?!>)[ \t]*[^\s>]/m

/** A line of a paragraph with its key, and the lines that wrap below it; offsets in the paragraph. */
interface FieldLine {
  /** Null for the text before the first key. */
  readonly key: string | null
  readonly start: number
  readonly valueAt: number
  end: number
}

function fieldLines(raw: string, isField: (key: string) => boolean): readonly FieldLine[] {
  const lines: FieldLine[] = []
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
