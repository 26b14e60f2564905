import type { Span } from '../base/diagnostic.ts'
import type { MarkdownBlock, ItemBlock } from './markdown/blocks.ts'
import { fieldsInRow, fieldStart } from './field-syntax.ts'
import { blankComments } from './markdown/inline.ts'
import type { Field, FieldForm, Product, Section } from './model.ts'
import { productOf, splitProducts } from './products.ts'
import type { TaskReading } from './reading.ts'
import { tableRows } from './markdown/table.ts'
import { lookUp, type Vocabulary } from './vocabulary.ts'

/** The content of a metadata block: fields, and fields that stand for sections. */
export interface BlockFields<F extends string, S extends string> {
  readonly fields: Field<F>[]
  readonly sections: Section<S>[]
  readonly lists: Map<S, Product[]>
}

/** Reads the fields of the metadata block, in any form. */
export function readFields<F extends string, S extends string>(
  reading: TaskReading,
  blocks: readonly MarkdownBlock[],
  vocabulary: Vocabulary<F, S>,
): BlockFields<F, S> {
  const found: BlockFields<F, S> = { fields: [], sections: [], lists: new Map() }
  for (const block of blocks) {
    if (block.kind === 'list') for (const item of block.items) readItem(reading, item, vocabulary, found)
    if (block.kind === 'text') readText(reading, block.span, vocabulary, found)
  }
  return found
}

function readItem<F extends string, S extends string>(
  reading: TaskReading,
  item: ItemBlock,
  vocabulary: Vocabulary<F, S>,
  found: BlockFields<F, S>,
): void {
  if (item.text === null) return
  const raw = textAt(reading, item.text)
  const start = fieldStart(raw)
  const from = item.text.start + (start?.valueAt ?? 0)
  const row = fieldsInRow(
    raw.slice(start?.valueAt ?? 0),
    (key) => lookUp(vocabulary.fields, key) !== undefined,
  )
  if (start !== null)
    readFirst(reading, {
      item,
      key: start.key,
      valueSpan: { start: from, end: from + row.end },
      vocabulary,
      found,
    })
  found.fields.push(...readParts(reading, row.parts, { from, form: 'item' }, vocabulary))
}

/** The fields after the first one in a row. */
function readParts<F extends string, S extends string>(
  reading: TaskReading,
  parts: ReturnType<typeof fieldsInRow>['parts'],
  { from, form }: { readonly from: number; readonly form: FieldForm },
  vocabulary: Vocabulary<F, S>,
): Field<F>[] {
  return parts.map(({ key, at, valueAt, end }) =>
    field(
      reading,
      vocabulary,
      key,
      { start: from + at, end: from + end },
      { start: from + valueAt, end: from + end },
      form,
    ),
  )
}

/** The field at the start of a list item. */
function readFirst<F extends string, S extends string>(
  reading: TaskReading,
  { item, key, valueSpan, vocabulary, found }: FirstField<F, S>,
): void {
  const section = lookUp(vocabulary.sections, key)
  if (section !== undefined && vocabulary.fieldSections.has(section)) {
    const bodySpan = item.inner ?? valueSpan
    found.sections.push({ name: section, title: key, span: item.span, bodySpan, form: 'field' })
    if (vocabulary.lists.has(section)) found.lists.set(section, itemProducts(reading, item, valueSpan))
    return
  }
  const own = reading.inlineText(textAt(reading, valueSpan))
  const listed = item.nested.flatMap((nested) =>
    nested.text ? [reading.inlineText(textAt(reading, nested.text))] : [],
  )
  const hasList = listed.length > 0
  found.fields.push({
    name: lookUp(vocabulary.fields, key) ?? null,
    key: key,
    value: [own, ...listed].filter((part) => part !== '').join(', '),
    span:
      item.text !== null && valueSpan.end < item.text.end
        ? { start: item.span.start, end: valueSpan.end }
        : item.span,
    valueSpan: hasList ? { start: valueSpan.start, end: item.span.end } : valueSpan,
    form: 'item',
  })
}

interface FirstField<F extends string, S extends string> {
  readonly item: ItemBlock
  readonly key: string
  readonly valueSpan: Span
  readonly vocabulary: Vocabulary<F, S>
  readonly found: BlockFields<F, S>
}

/** The products in a field that stands for a section: its nested list, or its value. */
function itemProducts(reading: TaskReading, item: ItemBlock, valueSpan: Span): Product[] {
  const raws = item.nested.flatMap((nested) => (nested.text ? [textAt(reading, nested.text)] : []))
  return raws.length > 0
    ? raws.map((raw) => productOf(reading, raw))
    : splitProducts(reading, textAt(reading, valueSpan))
}

/** Reads fields that are lines of a paragraph, or rows of a table. */
function readText<F extends string, S extends string>(
  reading: TaskReading,
  span: Span,
  vocabulary: Vocabulary<F, S>,
  found: BlockFields<F, S>,
): void {
  const raw = blankComments(textAt(reading, span))
  const rows = tableRows(raw)
  if (rows !== null) {
    for (const row of rows) {
      const key = reading.inlineText(row.key.text).replace(/[:：]\s*$/, '')
      const isField =
        lookUp(vocabulary.fields, key) !== undefined || /T-\d/i.test(textAt(reading, shift(row.value, span)))
      const isHead = row.isHead && !isField
      if (!isHead && key !== '')
        found.fields.push(
          field(reading, vocabulary, key, shift(row.span, span), shift(row.value, span), 'row'),
        )
    }
    return
  }
  const isKnown = (key: string): boolean => lookUp(vocabulary.fields, key) !== undefined
  for (const line of fieldLines(raw, vocabulary.everyKey ? () => true : isKnown)) {
    const row = fieldsInRow(raw.slice(line.value.start, line.value.end), isKnown)
    const value = { start: line.value.start, end: line.value.start + row.end }
    const whole = { start: line.span.start, end: value.end }
    if (line.key !== null)
      found.fields.push(field(reading, vocabulary, line.key, shift(whole, span), shift(value, span), 'line'))
    const from = span.start + line.value.start
    found.fields.push(...readParts(reading, row.parts, { from, form: 'line' }, vocabulary))
  }
}

function field<F extends string, S extends string>(
  reading: TaskReading,
  vocabulary: Vocabulary<F, S>,
  key: string,
  span: Span,
  valueSpan: Span,
  form: FieldForm,
): Field<F> {
  const name = lookUp(vocabulary.fields, key) ?? null
  return { name, key, value: reading.inlineText(textAt(reading, valueSpan)), span, valueSpan, form }
}

/** The fields of a paragraph, each with the lines that wrap below it. */
function fieldLines(raw: string, isKnown: (key: string) => boolean): FieldLine[] {
  const lines: FieldLine[] = []
  for (const match of raw.matchAll(/[ \t]*([^\r\n]*)(?:\r\n|\n|\r|$)/g)) {
    // A backslash before the next line is a hard break.
    const isLast = match.index + match[0].length >= raw.length
    const text = isLast ? match[1]!.trimEnd() : match[1]!.replace(/\\$/, '').trimEnd()
    if (text === '') continue
    const at = match.index + match[0].indexOf(match[1]!)
    const start = fieldStart(text)
    const last = lines.at(-1)
    if (start !== null && (start.bold || isKnown(start.key))) {
      const span = { start: at, end: at + text.length }
      lines.push({
        key: start.key,
        span,
        value: { start: at + Math.min(start.valueAt, text.length), end: span.end },
      })
    } else if (last !== undefined) {
      const end = at + text.length
      lines[lines.length - 1] = {
        key: last.key,
        span: { start: last.span.start, end },
        value: { start: last.value.start, end },
      }
    } else {
      const span = { start: at, end: at + text.length }
      lines.push({ key: null, span, value: span })
    }
  }
  return lines
}

interface FieldLine {
  /** Null for the text before the first key. */
  readonly key: string | null
  readonly span: Span
  readonly value: Span
}

function textAt(reading: TaskReading, span: Span): string {
  return reading.source.slice(span.start, span.end)
}

function shift(span: Span, by: Span): Span {
  return { start: span.start + by.start, end: span.end + by.start }
}
