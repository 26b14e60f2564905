import { blankComments } from './markdown/inline.ts'
import { type Field, type FieldName, FIELD_NAMES, type Status, type Task } from './model.ts'
import { lineAfter, lineEnding, lineStart, lineTextEnd, type Splice } from './markdown/splice.ts'
import { isDelimiter } from './markdown/table.ts'
import { statusWord } from './status-spelling.ts'
import { type TaskVocabulary, wordKey } from './vocabulary.ts'

/** Sets a field's value in any form; a missing field is added in the style of its neighbours. */
export function setField(
  task: Task,
  name: FieldName,
  value: string,
  vocabulary: TaskVocabulary,
): readonly Splice[] {
  const present = task.fields.filter((field) => field.name === name)
  if (present.length === 0) return [addedField(task, name, value, vocabulary)]
  return present.map((field) => valueSplice(task.source, field, value))
}

/** Sets a task's status, with the word and spelling of the file and its neighbours. */
export function setStatus(task: Task, status: Status, vocabulary: TaskVocabulary): readonly Splice[] {
  return setField(task, 'Status', statusWord(task, status, vocabulary), vocabulary)
}

/** Removes a field with its line, in any form. */
export function removeField(task: Task, name: FieldName): readonly Splice[] {
  return task.fields.filter((field) => field.name === name).map((field) => removedLine(task, field))
}

/** Whether a file uses the team's own words for its keys. */
export function speaksOwnWords(task: Task): boolean {
  const status = task.fields.find((field) => field.name === 'Status')
  return status !== undefined && wordKey(status.key) !== 'status'
}

/** Replaces only the value's text: marks around it and a comment after it stay. */
function valueSplice(source: string, field: Field, value: string): Splice {
  const { start, end } = field.valueSpan
  const text = escaped(value, field.form)
  if (start === end) {
    const isBlank = (at: number): boolean => source[at] === ' ' || source[at] === '\t'
    if (isBlank(start - 1)) return { start, end, text: field.form === 'row' ? `${text} ` : text }
    return isBlank(start) ? { start: start + 1, end: start + 1, text } : { start, end, text: ` ${text}` }
  }
  const at = field.value === '' ? -1 : blankComments(source.slice(start, end)).indexOf(field.value)
  if (at < 0) return { start, end, text }
  const isQuoted = field.form === 'frontmatter' && /["']/.test(source[start + at - 1] ?? '')
  return {
    start: start + at,
    end: start + at + field.value.length,
    text: isQuoted && /^\w+$/.test(value) ? value : text,
  }
}

function escaped(value: string, form: Field['form']): string {
  const line = value.replace(/\s*[\r\n]+\s*/g, ' ')
  if (form === 'row') return line.replaceAll('|', '\\|')
  if (form !== 'frontmatter') return line
  // YAML would read some commits as numbers: 1234567, 12345e7.
  const isNumber = /^\d+(?:e\d+)?$/i.test(line)
  const isPlain = !isNumber && /^[A-Za-z0-9$][^\r\n]*$/.test(line) && !/: |:$| #/.test(line)
  return isPlain ? line : JSON.stringify(line)
}

function addedField(task: Task, name: FieldName, value: string, vocabulary: TaskVocabulary): Splice {
  const { source, fields } = task
  const ending = lineEnding(source)
  const preceding = precedingField(task, name)
  if (preceding === null) return firstField(task, `- **${name}**: ${value}`, ending)
  const row = rowOf(task, preceding)
  const [neighbour, last] = [row[0]!, row.at(-1)!]
  const at = lineEndBelow(source, last)
  const added =
    (isLoose(task, neighbour) ? ending : '') +
    ending +
    likeNeighbour(source, neighbour, keyFor(name, neighbour, vocabulary), value)
  if (neighbour.form !== 'line') return { start: at, end: at, text: added }
  // Lines of a paragraph may need two blanks or a backslash at their ends.
  const breakOf = ({ span: { end } }: Field): string => source.slice(end, lineTextEnd(source, end))
  const ends = fields.filter((field, i) => field.form === 'line' && !isInRow(source, field, fields[i + 1]))
  const lineBreak = ends.map(breakOf).find((mark) => mark !== '') ?? ''
  const own = breakOf(last)
  return { start: at, end: at, text: own === '' ? lineBreak + added : added + own }
}

/** The end of a field's line; for the head of a table, the end of the line below it. */
function lineEndBelow(source: string, field: Field): number {
  const end = lineTextEnd(source, field.span.end)
  return isTableHead(source, field) ? lineTextEnd(source, lineAfter(source, end)) : end
}

function isTableHead(source: string, { form, span }: Field): boolean {
  const next = lineAfter(source, span.end)
  return form === 'row' && isDelimiter(source.slice(next, lineTextEnd(source, next)))
}

/** The last field that the format lists before this one; without one, the first field. */
function precedingField(task: Task, name: FieldName): Field | null {
  const rank = FIELD_NAMES.indexOf(name)
  let best: Field | null = null
  for (const field of task.fields) {
    if (field.name === null) continue
    const fieldRank = FIELD_NAMES.indexOf(field.name)
    if (fieldRank < rank && (best === null || fieldRank >= FIELD_NAMES.indexOf(best.name!))) best = field
  }
  return best ?? task.fields[0] ?? null
}

/** A block without fields gets its first one below the heading. */
function firstField(task: Task, line: string, ending: string): Splice {
  const heading = /^(?:\uFEFF)?[ ]{0,3}#[ \t]/m.exec(task.source)
  const at = heading ? lineTextEnd(task.source, heading.index) : 0
  return { start: at, end: at, text: at === 0 ? `${line}${ending}${ending}` : `${ending}${ending}${line}` }
}

/** The key in the file's own words and case: frontmatter usually has lower-case keys. */
function keyFor(name: FieldName, neighbour: Field, vocabulary: TaskVocabulary): string {
  const isCanonical = neighbour.name !== null && wordKey(neighbour.key) === wordKey(neighbour.name)
  const key = isCanonical ? name : (vocabulary.own.fields.get(name) ?? name)
  return neighbour.key === neighbour.key.toLowerCase() ? key.toLowerCase().replaceAll(' ', '_') : key
}

/** The fields in the same line as this one. */
function rowOf(task: Task, field: Field): readonly Field[] {
  const { source, fields } = task
  let first = fields.indexOf(field)
  let last = first
  while (first > 0 && isInRow(source, fields[first - 1]!, fields[first])) first--
  while (isInRow(source, fields[last]!, fields[last + 1])) last++
  return fields.slice(first, last + 1)
}

/** Whether the next field is in the line in which this one begins. */
function isInRow(source: string, { form, span }: Field, next: Field | undefined): boolean {
  return (
    next?.form === form && next.span.start >= span.start && next.span.start <= lineTextEnd(source, span.start)
  )
}

/** Whether there are blank lines between the fields of a list or a paragraph. */
function isLoose({ source, fields }: Task, { form }: Field): boolean {
  const [first, second] = fields.filter((field) => field.form === 'item' || field.form === 'line')
  if (!first || !second || (form !== 'item' && form !== 'line')) return false
  return /(?:\r\n|\n|\r)[ \t]*(?:\r\n|\n|\r)/.test(source.slice(first.span.end, second.span.start))
}

/** A copy of the neighbour's line with another key and value. */
function likeNeighbour(source: string, neighbour: Field, key: string, value: string): string {
  const { form, span, valueSpan } = neighbour
  const head = source.slice(lineStart(source, span.start), valueSpan.start)
  const keyAt = head.lastIndexOf(neighbour.key)
  // The value of a list may stand below its key.
  const after = head.slice(keyAt + neighbour.key.length).replace(/[ \t]*[\r\n][^]*$/, '')
  const blank = /[ \t]$/.test(after) ? '' : ' '
  const tail = form === 'row' ? source.slice(valueSpan.end, lineTextEnd(source, span.end)) : ''
  return head.slice(0, keyAt) + key + after + blank + escaped(value, form) + tail
}

/** Includes the line ending before it, so that removing an added line restores the file. */
function removedLine(task: Task, field: Field): Splice {
  const { source } = task
  // A table needs its head; and of a row with other fields only the value is removed.
  if (isTableHead(source, field) || rowOf(task, field).length > 1) return { ...field.valueSpan, text: '' }
  const index = task.fields.indexOf(field)
  const before = task.fields[index - 1]
  const end = lineTextEnd(source, field.span.end)
  if (before !== undefined && before.form === field.form && before.span.end < field.span.start) {
    // The last line of a paragraph has no hard break, so the new last line loses its own.
    const isBare = field.form === 'line' && end === field.span.end
    return { start: isBare ? before.span.end : lineEndBelow(source, before), end, text: '' }
  }
  const start = lineStart(source, field.span.start)
  const after = task.fields[index + 1]
  const isFollowed = after !== undefined && after.form === field.form
  return { start, end: isFollowed ? lineStart(source, after.span.start) : lineAfter(source, end), text: '' }
}
