import { lineAfter, lineEnding, lineStart } from '../../backlog/markdown/splice.ts'
import type { Edit, Entry, Source } from './source.ts'
import type { Value } from './value.ts'

/** Sets a key of a JSON object: replaces its value, or adds it after the last key, spaced like the first. */
export function setJson({ source, table }: Entry, key: string, value: string | boolean): readonly Edit[] {
  const written = JSON.stringify(value)
  const there = table.entries.get(key)
  if (there)
    return source.text.slice(there.span.start, there.span.end) === written
      ? []
      : [{ source, ...there.span, text: written }]
  const entry = `${JSON.stringify(key)}: ${written}`
  const last = [...table.entries.values()].at(-1)
  if (!last || table.firstKey === null) {
    const at = table.span.start + 1
    return [{ source, start: at, end: at, text: entry }]
  }
  const before = source.text.slice(0, table.firstKey)
  const gap = /\s*$/.exec(before)![0]
  return [{ source, start: last.span.end, end: last.span.end, text: `,${gap === '' ? ' ' : gap}${entry}` }]
}

/** Removes a key other than the first from a JSON object; if a comment is before it, only its value is removed. */
export function removeJson(entry: Entry, key: string): readonly Edit[] {
  const { source, table } = entry
  const names = [...table.entries.keys()]
  const index = names.indexOf(key)
  if (index < 0) return []
  const { end } = table.entries.get(key)!.span
  const before = table.entries.get(names[index - 1] ?? '')
  const gap = before && source.text.slice(before.span.end, end).split(JSON.stringify(key), 1)[0]!
  if (before === undefined || gap === undefined || !/^[\s,]*$/.test(gap)) return setJson(entry, key, '')
  return [{ source, start: before.span.end, end, text: '' }]
}

/** Sets a key of a YAML map to a word: replaces the value and keeps its quotes, or adds a line below another key's. */
export function setYaml(entry: Entry, key: string, word: string, below: Value): readonly Edit[] {
  const { source, table } = entry
  const there = table.entries.get(key)
  if (there?.kind !== 'scalar') return [addedYaml(entry, `${key}: ${word}`, below)]
  const written = source.text.slice(there.span.start, there.span.end)
  if (written === '') return [{ source, ...there.span, text: ` ${word}` }]
  const quote = /^["']/.exec(written)?.[0] ?? ''
  // A block scalar continues on the following lines.
  const ending = /^[|>]/.test(written) ? lineEnding(source.text) : ''
  return there.text === word ? [] : [{ source, ...there.span, text: quote + word + quote + ending }]
}

/** Adds a key: below another one's value, or after it in braces. */
export function addedYaml({ source, table }: Entry, text: string, below: Value): Edit {
  const column = columnOf(source.text, table.firstKey ?? table.span.start)
  if (source.text[table.span.start] === '{') {
    const { end } = below.span
    return { source, start: end, end, text: `, ${text}` }
  }
  return insertedLine(source, endOf(below), `${' '.repeat(column)}${text}`)
}

/** Adds an item to a YAML list that is written in lines; null if it is in brackets. */
export function addedItem(source: Source, list: Value, lines: readonly string[]): Edit | null {
  const { text } = source
  if (list.kind !== 'list' || text[list.span.start] !== '-') return null
  const indent = ' '.repeat(columnOf(text, list.span.start))
  const ending = lineEnding(text)
  const item = lines.map((line, index) => `${indent}${index === 0 ? '- ' : '  '}${line}`).join(ending)
  return insertedLine(source, endOf(list), item)
}

/** The end of a value, with all that it contains. */
function endOf(value: Value): number {
  if (value.kind === 'scalar') return value.span.end
  const inner = value.kind === 'list' ? value.items : [...value.entries.values()]
  const own = inner.length === 0 ? value.span.end : value.span.start
  return inner.reduce((end, item) => Math.max(end, endOf(item)), own)
}

function insertedLine(source: Source, after: number, line: string): Edit {
  const { text } = source
  const ending = lineEnding(text)
  const isLineStart = after > 0 && /[\r\n]/.test(text[after - 1]!)
  const at = isLineStart ? after : lineAfter(text, after)
  const isOpen = at === text.length && !/[\r\n]$/.test(text)
  return { source, start: at, end: at, text: isOpen ? ending + line : line + ending }
}

function columnOf(text: string, at: number): number {
  return at - lineStart(text, at)
}
