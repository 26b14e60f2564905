import type { Span } from '../base/diagnostic.ts'
import { fieldsInRow, fieldStart } from './field-syntax.ts'
import { lineAfter, lineTextEnd } from './markdown/splice.ts'
import { type Field } from './model.ts'
import type { TaskReading } from './reading.ts'
import { lookUp, type Vocabulary } from './vocabulary.ts'

/** Whether a text consists of fields alone: bullets, lines and rows that each begin with a key, with indented lines below them. */
export function isAllFields(raw: string): boolean {
  let isField = false
  for (const line of raw.split(/\r\n|\n|\r/)) {
    if (line.trim() === '' || RULE.test(line) || (isField && NESTED.test(line))) continue
    isField = ROW.test(line) || fieldStart(line.replace(/^[-*+][ \t]+/, '')) !== null
    if (!isField) return false
  }
  return isField
}

const NESTED = /^(?: {2,}|\t)/
const ROW = /^\|[^|]+\|[^|]*\|[ \t]*$/
const RULE = /^(?:-{3,}|\*{3,}|_{3,})[ \t]*$/

/** The fields in quotes that consist of fields alone; none if a line around them might change their meaning. */
export function quotedFields<F extends string>(
  reading: TaskReading,
  span: Span,
  vocabulary: Vocabulary<F>,
): readonly Field<F>[] {
  const { source } = reading
  const quotes: (readonly Field<F>[] | null)[][] = []
  let isInQuote = false
  for (let at = span.start; at < span.end; at = lineAfter(source, at)) {
    const end = Math.min(lineTextEnd(source, at), span.end)
    const line = source.slice(at, end)
    const [mark] = QUOTE.exec(line) ?? []
    // A quote continues in the text right below it.
    if (mark === undefined && (HIDES.test(line) || (isInQuote && line.trim() !== ''))) return []
    if (mark !== undefined) {
      if (!isInQuote) quotes.push([])
      quotes.at(-1)!.push(fieldsIn(reading, { start: at + mark.length, end }, vocabulary))
    }
    isInQuote = mark !== undefined
  }
  return quotes.flatMap((lines) => (lines.includes(null) ? [] : lines.flatMap((fields) => fields ?? [])))
}

const QUOTE = /^>[ \t]?(?:[-*+][ \t]+)?/
// Inside code, comments or HTML there are no quotes.
const HIDES = /^[ \t]*(?:`{3}|~{3}|<)/

/** The fields of one line, none if it is blank; null if it is no field. */
function fieldsIn<F extends string>(
  reading: TaskReading,
  { start, end }: Span,
  vocabulary: Vocabulary<F>,
): readonly Field<F>[] | null {
  const raw = reading.source.slice(start, end).replace(/\\?[ \t]*$/, '')
  if (raw === '') return []
  const first = fieldStart(raw)
  if (first === null) return null
  const nameOf = (key: string): F | null => lookUp(vocabulary.fields, key) ?? null
  const row = fieldsInRow(raw.slice(first.valueAt), (key) => nameOf(key) !== null)
  const at = start + first.valueAt
  const head = { key: first.key, at: -first.valueAt, valueAt: 0, end: row.end }
  return [head, ...row.parts].map((part) => {
    const valueSpan = { start: at + part.valueAt, end: at + part.end }
    return {
      name: nameOf(part.key),
      key: part.key,
      value: reading.inlineText(reading.source.slice(valueSpan.start, valueSpan.end)),
      span: { start: at + part.at, end: valueSpan.end },
      valueSpan,
      form: 'line',
    }
  })
}
