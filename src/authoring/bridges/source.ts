import type { Diagnostic, Severity } from '../../base/diagnostic.ts'
import { placesIn } from '../../base/places.ts'
import { applySplices, type Splice } from '../../backlog/markdown/splice.ts'
import { type Criterion } from '../../backlog/draft.ts'
import { foreignStatus, type ForeignStatus, type OriginPlace } from './draft.ts'
import { readJsonValue, readYamlValue, type List, type Scalar, type Table, type Value } from './value.ts'

/** Another tool's files: reading them starts no process, and follows no link out of the project. */
export interface Tree {
  /** The text of a file, relative to the root; null if there is none. */
  text(path: string): string | null
  /** The names in a folder, those of folders with a slash; empty if there is no such folder. */
  list(folder: string): readonly string[]
}

/** A file that is being read: its text, the positions in it, and its mistakes. */
export interface Source {
  readonly file: string
  /** Without a byte order mark. */
  readonly text: string
  readonly placeOf: (at: number) => OriginPlace
  readonly report: (at: number, message: string, severity?: Severity) => void
  /** The new text of the file, by its path. */
  readonly edited: (splices: readonly Splice[]) => ReadonlyMap<string, string>
}

/** Opens files of a tree, and collects their mistakes. */
export interface Sources {
  readonly tree: Tree
  readonly open: (file: string) => Source | null
  /** The value of a JSON or YAML file; null if there is none, or if it cannot be read, which is reported. */
  readonly value: (file: string) => { readonly source: Source; readonly value: Value } | null
  /** The table in such a file; null if there is none, or if it is another value, which is reported. */
  readonly root: (file: string, what: string) => Entry | null
  readonly mistakes: readonly Diagnostic[]
}

export function openSources(tree: Tree): Sources {
  const mistakes: Diagnostic[] = []
  const open = (file: string): Source | null => {
    const raw = tree.text(file)
    if (raw === null) return null
    const text = raw.replace(/^\uFEFF/, '')
    const places = placesIn(text)
    const placeOf = (at: number): OriginPlace => ({ file, ...places(at) })
    const report: Source['report'] = (at, message, severity = 'error') => {
      if (mistakes.length < MOST_MISTAKES)
        mistakes.push({ ...placeOf(at), severity, rule: 'import', message })
    }
    const edited: Source['edited'] = (splices) => {
      const changed = applySplices(text, splices)
      return new Map([[file, raw.slice(0, raw.length - text.length) + changed]])
    }
    return { file, text, placeOf, report, edited }
  }
  const value: Sources['value'] = (file) => {
    const source = open(file)
    if (!source) return null
    const read = /\.ya?ml$/.test(file) ? readYamlValue(source.text) : readJsonValue(source.text)
    if (read.ok) return { source, value: read.value }
    source.report(read.at, read.message)
    return null
  }
  return {
    tree,
    open,
    value,
    root(file, what) {
      const read = value(file)
      return read && entryAt(read.source, read.value, what)
    },
    mistakes,
  }
}

/** More mistakes of a file are not useful. */
const MOST_MISTAKES = 1000

/** A table that is being read leniently: numbers count as texts, and null values as missing. */
export interface Entry {
  readonly source: Source
  readonly table: Table
  /** The offset of the table. */
  readonly at: number
  readonly value: (...names: readonly string[]) => Value | undefined
  readonly scalar: (...names: readonly string[]) => Scalar | undefined
  /** Empty if there is none. */
  readonly text: (...names: readonly string[]) => string
  /** A list of texts, or the lines of one. */
  readonly texts: (...names: readonly string[]) => readonly string[]
  readonly entries: (...names: readonly string[]) => readonly Entry[]
  readonly report: (name: string, message: string, severity?: Severity) => void
}

/** The table at a value; null for any other value, which is reported. */
export function entryAt(source: Source, value: Value | undefined, what: string): Entry | null {
  if (value?.kind !== 'table') {
    source.report(value?.span.start ?? 0, `expected ${what}, found ${kindOf(value)}`)
    return null
  }
  const find = (...names: readonly string[]): Value | undefined => {
    for (const name of names) {
      const found = value.entries.get(name)
      if (found !== undefined && !(found.kind === 'scalar' && found.value === null)) return found
    }
    return undefined
  }
  const refused = (found: Value, name: string, expected: string): void =>
    source.report(found.span.start, `${name} is to be ${expected}, not ${kindOf(found)}`)
  const scalar = (...names: readonly string[]): Scalar | undefined => {
    const found = find(...names)
    if (found === undefined || found.kind === 'scalar') return found
    refused(found, names[0]!, 'a text')
    return undefined
  }
  return {
    source,
    table: value,
    at: value.span.start,
    value: find,
    scalar,
    text: (...names) => scalar(...names)?.text ?? '',
    texts(...names) {
      const found = find(...names)
      if (found === undefined) return []
      if (found.kind === 'scalar') return linesOf(found.text)
      if (found.kind === 'list') return textsOf(found, source, names[0]!)
      refused(found, names[0]!, 'a list of texts')
      return []
    },
    entries(...names) {
      const found = find(...names)
      if (found === undefined) return []
      if (found.kind === 'list') return entriesOf(source, found, `one of ${names[0]}`)
      refused(found, names[0]!, 'a list')
      return []
    },
    report: (name, message, severity) =>
      source.report(value.entries.get(name)?.span.start ?? value.span.start, message, severity),
  }
}

/** The tables of a list. */
export function entriesOf(source: Source, list: List, what: string): readonly Entry[] {
  return list.items.flatMap((item) => entryAt(source, item, what) ?? [])
}

function kindOf(value: Value | undefined): string {
  if (value?.kind === 'list') return 'a list'
  if (value?.kind === 'table') return 'an object'
  return value === undefined || value.value === null ? 'nothing' : `"${value.text.slice(0, 40)}"`
}

/** The lines of a text, without bullets. */
export function linesOf(text: string): readonly string[] {
  const lines = text.split(/\r\n|\r|\n/).map((line) => line.replace(/^\s*(?:[-*+•]|\d+[.)])\s+/, '').trim())
  return lines.filter((line) => line !== '')
}

function textsOf(list: List, source: Source, name: string): readonly string[] {
  return list.items.flatMap((item) => {
    const text = item.kind === 'table' ? wordIn(item) : item
    if (text?.kind === 'scalar') return text.text.trim() === '' ? [] : [text.text]
    source.report(item.span.start, `${name} is to be a list of texts, and this is ${kindOf(item)}`)
    return []
  })
}

/** Some tools write a criterion, or a file, as an object. */
function wordIn({ entries }: Table): Value | undefined {
  const name = ['text', 'title', 'description', 'path', 'file', 'name'].find((known) => entries.has(known))
  return name === undefined ? undefined : entries.get(name)
}

/** Reads criteria, some of which may be met. */
export function criteriaOf(entry: Entry, ...names: readonly string[]): readonly Criterion[] {
  return entry.texts(...names).map((text) => {
    const [box, mark = ' '] = /^\[([ xX])\]\s+/.exec(text) ?? ['']
    return { text: text.slice(box.length), met: mark !== ' ' }
  })
}

/** The status of a task; an unknown word is reported, and counts as TODO. */
export function statusOf(entry: Entry, name = 'status'): ForeignStatus {
  const word = entry.text(name)
  const status = foreignStatus(word)
  if (status === undefined)
    entry.report(name, `"${word}" is no status that ralph knows: pending, in_progress, completed or blocked`)
  return status ?? 'TODO'
}

/** Makes a reader of a task's key: a missing one is reported; a second task with the same key gets a new one. */
export function keyReader(): (entry: Entry, key: string) => string | null {
  const counts = new Map<string, number>()
  return ({ source, table, at }, key) => {
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
export function keyed<T extends Entry>(
  entries: readonly T[],
  keyOf: (entry: T) => string = (entry) => entry.text('id'),
): readonly { readonly key: string; readonly entry: T }[] {
  const readKey = keyReader()
  return entries.flatMap((entry) => {
    const key = readKey(entry, keyOf(entry))
    return key === null ? [] : [{ key, entry }]
  })
}
