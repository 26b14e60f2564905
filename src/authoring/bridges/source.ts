import type { Diagnostic, Severity } from '../../base/diagnostic.ts'
import { placesIn } from '../../base/places.ts'
import { applySplices, type Splice } from '../../backlog/markdown/splice.ts'
import type { Criterion } from '../../backlog/draft.ts'
import { foreignStatus, grouped, type ForeignStatus } from './format.ts'
import type { Tree } from './tree.ts'
import { readJsonLines, readJsonValue, readYamlValue, type Table, type Value } from './value.ts'

/** A file that is being read: its text without a byte order mark, and a reporter of its mistakes. */
export type Source = ReturnType<typeof sourceOf>

/** A change of a file. */
export interface Edit extends Splice {
  readonly source: Source
}

/** Opens files of a tree, each once, and collects their mistakes. */
export type Sources = ReturnType<typeof openSources>

const READERS = [
  [/\.jsonl$/i, readJsonLines],
  [/\.jsonc?$|^github:/i, readJsonValue],
  [/\.ya?ml$/i, readYamlValue],
] as const

export function openSources(tree: Tree) {
  const mistakes: Diagnostic[] = []
  const opened = new Map<string, Source | null>()
  const values = new Map<string, Value | null>()
  const open = (file: string): Source | null => {
    const known = opened.get(file)
    if (known !== undefined) return known
    const raw = tree.text(file)
    const source = raw === null ? null : sourceOf(file, raw, mistakes)
    opened.set(file, source)
    return source
  }
  /** The value of a JSON or YAML file; null if it is another file, or if it cannot be read, which is reported. */
  const value = (file: string): Value | null => {
    const known = values.get(file)
    if (known !== undefined) return known
    const reader = READERS.find(([ending]) => ending.test(file))?.[1]
    const source = reader ? open(file) : null
    const read = source && reader?.(source.text)
    if (source && read && !read.ok) source.report(read.at, read.message)
    const found = read?.ok ? read.value : null
    values.set(file, found)
    return found
  }
  return {
    tree,
    mistakes,
    open,
    value,
    /** The table in such a file; null if there is none, or if it is another value, which is reported. */
    root(file: string, what: string): Entry | null {
      const found = value(file)
      return found && entryAt(open(file)!, found, what)
    },
    /** The items of a list, which is the value of the file or of its key; null if it is another value. */
    items(file: string, key?: string): readonly Value[] | null {
      const found = value(file)
      const table = found?.kind === 'table' ? found.entries : undefined
      const list = key === undefined ? found : table?.get(key)
      return list?.kind === 'list' ? list.items : null
    },
  }
}

/** More mistakes of a file are not useful. */
const MOST_MISTAKES = 1000

function sourceOf(file: string, raw: string, mistakes: Diagnostic[]) {
  const text = raw.replace(/^\uFEFF/, '')
  const places = placesIn(text)
  const placeOf = (at: number) => ({ file, ...places(at) })
  return {
    file,
    text,
    byteOrderMark: raw.slice(0, raw.length - text.length),
    placeOf,
    report: (at: number, message: string, severity: Severity = 'error'): void => {
      if (mistakes.length < MOST_MISTAKES)
        mistakes.push({ ...placeOf(at), severity, rule: 'import', message })
    },
  }
}

/** The new texts of the edited files, by path. */
export function editedTexts(edits: readonly Edit[]): ReadonlyMap<string, string> {
  const files = grouped(edits, ({ source }) => source)
  return new Map(
    [...files].map(([{ file, byteOrderMark, text }, splices]) => [
      file,
      byteOrderMark + applySplices(text, splices),
    ]),
  )
}

/** Whether all values are tables that have one of these keys. */
export function eachHas(values: readonly Value[], ...keys: readonly string[]): boolean {
  return values.every((value) => value.kind === 'table' && keys.some((key) => value.entries.has(key)))
}

/** A table that is being read leniently: numbers count as texts, and null values as missing. */
export interface Entry extends ReturnType<typeof entryOf> {}

function entryOf(source: Source, table: Table) {
  const value = (...names: readonly string[]): Value | undefined =>
    names
      .map((name) => table.entries.get(name))
      .find((found) => found !== undefined && !(found.kind === 'scalar' && found.value === null))
  const refused = (found: Value, name: string | undefined, expected: string): void =>
    source.report(found.span.start, `${name} is to be ${expected}, not ${kindOf(found)}`)
  return {
    source,
    table,
    /** The offset of the table. */
    at: table.span.start,
    value,
    /** Empty if there is none. */
    text: (...names: readonly string[]): string => {
      const found = value(...names)
      if (found === undefined) return ''
      if (found.kind === 'scalar') return found.text
      refused(found, names[0], 'a text')
      return ''
    },
    /** Undefined if there is none. */
    flag: (name: string): boolean | undefined => {
      const found = value(name)
      if (found?.kind === 'scalar' && typeof found.value === 'boolean') return found.value
      if (found) refused(found, name, 'true or false')
      return undefined
    },
    /** A list of texts, or the lines of one. */
    texts: (...names: readonly string[]): readonly string[] => {
      const found = value(...names)
      if (found === undefined) return []
      if (found.kind === 'scalar') return linesOf(found.text)
      if (found.kind === 'list') return found.items.flatMap((item) => textOf(item, source, names[0]))
      refused(found, names[0], 'a list of texts')
      return []
    },
    entries: (name: string): readonly Entry[] => {
      const found = value(name)
      if (found === undefined) return []
      if (found.kind === 'list') return entriesOf(source, found.items, `one of ${name}`)
      refused(found, name, 'a list')
      return []
    },
    report: (name: string, message: string): void =>
      source.report((table.entries.get(name) ?? table).span.start, message),
  }
}

/** The table at a value; null for any other value, which is reported. */
export function entryAt(source: Source, value: Value, what: string): Entry | null {
  if (value.kind === 'table') return entryOf(source, value)
  source.report(value.span.start, `expected ${what}, found ${kindOf(value)}`)
  return null
}

/** The tables of a list. */
export function entriesOf(source: Source, items: readonly Value[], what: string): readonly Entry[] {
  return items.flatMap((item) => entryAt(source, item, what) ?? [])
}

function kindOf(value: Value): string {
  if (value.kind === 'list') return 'a list'
  if (value.kind === 'table') return 'an object'
  return value.value === null ? 'nothing' : `"${value.text.slice(0, 40)}"`
}

/** The lines of a text, without bullets. */
function linesOf(text: string): readonly string[] {
  const lines = text.split(/\r\n|\r|\n/).map((line) => line.replace(/^\s*(?:[-*+•]|\d+[.)])\s+/, '').trim())
  return lines.filter((line) => line !== '')
}

/** Some tools write a criterion, or a file, as an object. */
const TEXT_KEYS = ['text', 'title', 'description', 'path', 'file', 'name']

function textOf(item: Value, source: Source, name: string | undefined): readonly string[] {
  const key = item.kind === 'table' && TEXT_KEYS.find((known) => item.entries.has(known))
  const text: Value | undefined = item.kind === 'table' ? item.entries.get(key || '') : item
  if (text?.kind === 'scalar') return text.text.trim() === '' ? [] : [text.text]
  source.report(item.span.start, `${name} is to be a list of texts, and this is ${kindOf(item)}`)
  return []
}

/** Reads criteria, some of which may be met. */
export function criteriaOf(entry: Entry, ...names: readonly string[]): readonly Criterion[] {
  return entry.texts(...names).map((text) => {
    const [box, mark = ' '] = /^\[([ xX])\]\s+/.exec(text) ?? ['']
    return { text: text.slice(box.length), met: mark !== ' ' }
  })
}

/** The number at a key; undefined if there is none. */
export function numberOf(entry: Entry, name: string): number | undefined {
  const found = entry.value(name)
  return found?.kind === 'scalar' && typeof found.value === 'number' ? found.value : undefined
}

/** Compares two entries by their priority; those without one come last. */
export function byPriority(one: Entry, other: Entry): number {
  return (numberOf(one, 'priority') ?? Infinity) - (numberOf(other, 'priority') ?? Infinity) || 0
}

/** The status of a task; an unknown word is reported, and counts as TODO. */
export function statusOf(entry: Entry, word = entry.text('status')): ForeignStatus {
  const status = foreignStatus(word)
  if (status === undefined)
    entry.report(
      'status',
      `"${word}" is no status that ralph knows: pending, in_progress, completed or blocked`,
    )
  return status ?? 'TODO'
}

/** Makes a reader of a task's key: a missing one is reported; a second task with the same key gets a new one. */
export function keyReader(): (entry: Entry, key?: string) => string | null {
  const counts = new Map<string, number>()
  return ({ source, table, at, text }, key = text('id')) => {
    const where = table.entries.get('id')?.span.start ?? at
    if (key === '') {
      source.report(where, 'a task needs an id')
      return null
    }
    const count = (counts.get(key) ?? 0) + 1
    counts.set(key, count)
    if (count === 1) return key
    source.report(where, `the id ${key} is taken already: this one is called ${key}~${count} here`, 'warning')
    return `${key}~${count}`
  }
}

/** Entries with their keys, without those that have none. */
export function keyed(
  entries: readonly Entry[],
  keyOf?: (entry: Entry) => string,
): readonly { readonly key: string; readonly entry: Entry }[] {
  const readKey = keyReader()
  return entries.flatMap((entry) => {
    const key = readKey(entry, keyOf?.(entry))
    return key === null ? [] : [{ key, entry }]
  })
}
