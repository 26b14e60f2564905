import type { OriginReport } from '../../backlog/origin.ts'
import { type ForeignDraft } from './draft.ts'
import type { Source, Sources } from './source.ts'
import type { Value } from './value.ts'

/** The backlog format of another tool: one file for each, and one row in `formats.ts`. */
export interface Format {
  /** Its name on the screen. */
  readonly about: string
  /** The path that identifies such a backlog; null for another format. */
  readonly find: (look: Look) => string | null
  readonly read: (path: string, sources: Sources, how: ReadingOptions) => ForeignBacklog
  /** The files that hold the status of its tasks, if not its path alone. */
  readonly files?: (path: string, sources: Sources) => readonly string[]
  /** The new texts of its files after a task's status has changed; missing if ralph never writes it. */
  readonly write?: (path: string, sources: Sources, end: OriginEnd) => ReadonlyMap<string, string>
}

export interface ReadingOptions {
  /** Whether tasks in sequence are independent of each other. */
  readonly independent: boolean
}

/** The content of another tool's files. */
export interface ForeignBacklog {
  /** In the order in which they are to be done. */
  readonly drafts: readonly ForeignDraft[]
  /** The keys of archived tasks: no task waits for them. */
  readonly archived?: readonly string[]
  /** Documents that belong to the tasks, by their new path. */
  readonly documents?: ReadonlyMap<string, string>
}

/** A file or folder that may be a backlog. */
export interface Look {
  readonly path: string
  /** The names in a folder; null for a file. */
  readonly names: readonly string[] | null
  readonly sources: Sources
  /** The content of a JSON or YAML file; null for any other. */
  readonly value: () => Value | null
  /** Its text; null if it is a folder. */
  readonly source: () => Source | null
}

/** The new status of one of its tasks. */
export interface OriginEnd extends OriginReport {
  readonly key: string
}

/** The folder of a path. */
export function folderOf(path: string): string {
  return path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '.'
}

/** A path in the same folder as another. */
export function beside(path: string, name: string): string {
  return within(folderOf(path), name)
}

/** The last part of a path. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** A path in a folder, which may be the root. */
export function within(folder: string, name: string): string {
  return folder === '.' || folder === '' ? name : `${folder}/${name}`
}

/** The value of a key in the file, if the file is a table. */
export function keyOf(look: Look, ...keys: readonly string[]): Value | undefined {
  const value = look.value()
  const key = value?.kind === 'table' ? keys.find((name) => value.entries.has(name)) : undefined
  return value?.kind === 'table' && key !== undefined ? value.entries.get(key) : undefined
}

/** Returns the key before each key, as its dependency; none if tasks are independent. */
export function chained(keys: readonly string[], { independent }: ReadingOptions): (key: string) => string[] {
  if (independent) return () => []
  const before = new Map(keys.map((key, index) => [key, keys[index - 1]]))
  return (key) => [before.get(key) ?? []].flat()
}

/** Groups items by key, in order of first appearance. */
export function grouped<T, K>(items: Iterable<T>, keyOf: (item: T) => K): ReadonlyMap<K, readonly T[]> {
  const groups = new Map<K, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return groups
}
