import type { OriginReport } from '../task/origin.ts'
import type { Draft } from './draft.ts'
import type { Source, Sources } from './source.ts'
import type { Value } from './value.ts'

/** How another tool writes its backlog: one file a format, and one row of the table in `formats.ts`. */
export interface Format {
  /** What it is called to a person. */
  readonly about: string
  /** The path that names such a backlog, by what is there; null where it is another one. */
  readonly find: (look: Look) => string | null
  readonly read: (path: string, sources: Sources, how: ReadingOptions) => ForeignBacklog
  /** The files that tell how its tasks stand. */
  readonly files: (path: string, sources: Sources) => readonly string[]
  /** The new texts of its files, once one of its tasks stands differently; null where it is never written to. */
  readonly write: ((path: string, sources: Sources, end: OriginEnd) => ReadonlyMap<string, string>) | null
}

export interface ReadingOptions {
  /** Tasks that only follow one another do not depend on each other. */
  readonly independent: boolean
}

/** What another tool's files hold. */
export interface ForeignBacklog {
  /** In the order in which they are to be done. */
  readonly drafts: readonly Draft[]
  /** The keys of tasks that are not to be done, or are in an archive: nothing waits for them. */
  readonly dropped?: ReadonlySet<string>
  /** Documents that come with the tasks, by where they go. */
  readonly documents?: ReadonlyMap<string, string>
}

/** Something that may be a backlog. */
export interface Look {
  readonly path: string
  /** The names in it, where it is a folder. */
  readonly names: readonly string[] | null
  readonly sources: Sources
  /** What a file of JSON or YAML holds; null for any other. */
  readonly value: () => Value | null
  /** Its text; null where it is a folder. */
  readonly source: () => Source | null
}

/** How one of its tasks stands now. */
export interface OriginEnd extends OriginReport {
  readonly key: string
}

/** A path in the folder of another. */
export function beside(path: string, name: string): string {
  const folder = path.slice(0, path.lastIndexOf('/') + 1)
  return folder + name
}

/** The last part of a path. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** A path within a folder, which may be the root. */
export function within(folder: string, name: string): string {
  return folder === '.' || folder === '' ? name : `${folder}/${name}`
}

/** The value of a key of a file that is being looked at, where it is a table. */
export function keyOf(look: Look, ...keys: readonly string[]): Value | undefined {
  const value = look.value()
  const key = value?.kind === 'table' ? keys.find((name) => value.entries.has(name)) : undefined
  return value?.kind === 'table' && key !== undefined ? value.entries.get(key) : undefined
}

/** Sections that follow one another, each task of one after the one before it. */
export function chained(keys: readonly string[], { independent }: ReadingOptions): (key: string) => string[] {
  if (independent) return () => []
  const before = new Map(keys.map((key, index) => [key, keys[index - 1]]))
  return (key) => [before.get(key) ?? []].flat()
}

/** What belongs together, in the order in which each group begins. */
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
