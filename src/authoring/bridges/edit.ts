import { lineAfter, lineEnding, lineStart, type Splice } from '../../backlog/markdown/splice.ts'
import type { Entry } from './source.ts'
import type { Value } from './value.ts'

/** Sets a key of a JSON object: replaces its value, or adds it after the last key, spaced like the first. */
export function setJson({ source, table }: Entry, key: string, value: string | boolean): readonly Splice[] {
  const written = JSON.stringify(value)
  const there = table.entries.get(key)
  if (there)
    return source.text.slice(there.span.start, there.span.end) === written
      ? []
      : [{ ...there.span, text: written }]
  const entry = `${JSON.stringify(key)}: ${written}`
  const last = [...table.entries.values()].at(-1)
  if (!last || table.firstKey === null) {
    const at = table.span.start + 1
    return [{ start: at, end: at, text: entry }]
  }
  const before = source.text.slice(0, table.firstKey)
  const gap = /\s*$/.exec(before)![0]
  return [{ start: last.span.end, end: last.span.end, text: `,${gap === '' ? ' ' : gap}${entry}` }]
}

/** Removes a key other than the first from a JSON object; if a comment is before it, only its value is removed. */
export function removeJson(entry: Entry, key: string): readonly Splice[] {
  const { source, table } = entry
  const names = [...table.entries.keys()]
  const index = names.indexOf(key)
  if (index < 0) return []
  const { end } = table.entries.get(key)!.span
  const before = table.entries.get(names[index - 1] ?? '')
  const gap = before && source.text.slice(before.span.end, end).split(JSON.stringify(key), 1)[0]!
  if (before === undefined || gap === undefined || !/^[\s,]*$/.test(gap)) return setJson(entry, key, '')
  return [{ start: before.span.end, end, text: '' }]
}

/** Sets a key of a YAML map to a word: replaces the value and keeps its quotes, or adds a line below another key's. */
export function setYaml(entry: Entry, key: string, word: string, below: Value): readonly Splice[] {
  const { source, table } = entry
  const there = table.entries.get(key)
  if (there?.kind !== 'scalar') return [addedYaml(entry, `${key}: ${word}`, below)]
  const written = source.text.slice(there.span.start, there.span.end)
  if (written === '') return [{ ...there.span, text: ` ${word}` }]
  const quote = /^["']/.exec(written)?.[0] ?? ''
  // A block scalar continues on the following lines.
  const ending = /^[|>]/.test(written) ? lineEnding(source.text) : ''
  return there.text === word ? [] : [{ ...there.span, text: quote + word + quote + ending }]
}

/** Adds a key: below another one's value, or after it in braces. */
export function addedYaml({ source, table }: Entry, text: string, below: Value): Splice {
  const column = columnOf(source.text, table.firstKey ?? table.span.start)
  if (source.text[table.span.start] === '{') {
    const { end } = below.span
    return { start: end, end, text: `, ${text}` }
  }
  return insertedLine(source.text, endOf(below), `${' '.repeat(column)}${text}`)
}

/** Adds an item to a YAML list that is written in lines; null if it is in brackets. */
export function addedItem(text: string, list: Value, lines: readonly string[]): Splice | null {
  if (list.kind !== 'list' || text[list.span.start] !== '-') return null
  const indent = ' '.repeat(columnOf(text, list.span.start))
  const ending = lineEnding(text)
  const item = lines.map((line, index) => `${indent}${index === 0 ? '- ' : '  '}${line}`).join(ending)
  return insertedLine(text, endOf(list), item)
}

/** The end of a value, with all that it contains. */
function endOf(value: Value): number {
  if (value.kind === 'scalar') return value.span.end
  const inner = value.kind === 'list' ? value.items : [...value.entries.values()]
  const own = inner.length === 0 ? value.span.end : value.span.start
  return inner.reduce((end, item) => Math.max(end, endOf(item)), own)
}

function insertedLine(text: string, after: number, line: string): Splice {
  const ending = lineEnding(text)
  const isLineStart = after > 0 && /[\r\n]/.test(text[after - 1]!)
  const at = isLineStart ? after : lineAfter(text, after)
  const isOpen = at === text.length && !/[\r\n]$/.test(text)
  return { start: at, end: at, text: isOpen ? ending + line : line + ending }
}

function columnOf(text: string, at: number): number {
  return at - lineStart(text, at)
}

/** A text as a one-line string that YAML and JSON read the same way. */
export function quoted(text: string): string {
  return JSON.stringify(text)
}
