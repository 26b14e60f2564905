import type { Diagnostic } from '../../base/diagnostic.ts'
import { shortened } from '../../base/text.ts'
import { type Draft, draftOf } from '../../backlog/draft.ts'
import type { Status } from '../../backlog/model.ts'
import type { OriginReport } from '../../backlog/origin.ts'
import type { Edit, Sources } from './source.ts'
import type { Tree } from './tree.ts'

/** The backlog format of another tool: one file for each, and one row in `formats.ts`. */
export interface Format {
  /** Its name on the screen. */
  readonly about: string
  /** The path that identifies the backlog at a file or folder; null for another format. */
  readonly find: (path: string, sources: Sources) => string | null
  readonly read: (path: string, sources: Sources, how: ReadingOptions) => ForeignBacklog
  /** The files that hold the status of its tasks, if not its path alone. */
  readonly files?: (path: string, tree: Tree) => readonly string[]
  /** Set if ralph never writes it. */
  readonly isReadOnly?: true
}

export interface ReadingOptions {
  /** Whether tasks in sequence are independent of each other. */
  readonly independent: boolean
  /** The key of the only task that matters: the others may be left out. */
  readonly only?: string
  /** The keys that tasks here came from: a list of open issues may not hold them any more. */
  readonly imported?: readonly string[]
}

/** The content of another tool's files. */
interface ForeignBacklog {
  /** In the order in which they are to be done. */
  readonly tasks: readonly ForeignTask[]
  /** The keys of archived tasks: no task waits for them. */
  readonly archived?: readonly string[]
  /** Documents that belong to the tasks, by their new path. */
  readonly documents?: () => ReadonlyMap<string, string>
}

/** A task of another tool's backlog. Its draft is made on demand, as writing a status back needs none. */
export interface ForeignTask {
  readonly key: string
  readonly draft: () => ForeignDraft
  /** The edits of its files after its status has changed. */
  readonly write?: (report: OriginReport) => readonly Edit[]
}

/** A task of another tool's backlog; or a task of this backlog, to be written in another format. */
export interface ForeignDraft extends Draft {
  /** Its key there, which its references to other tasks use. */
  readonly key: string
  readonly description: string
  readonly place: OriginPlace
  /** Whether it is not to be done: no task waits for it. */
  readonly isDropped: boolean
}

/** A place in another tool's files. */
type OriginPlace = Pick<Diagnostic, 'file' | 'line' | 'column'>

/** A draft with these values and defaults for the rest. */
export function foreignDraft(
  known: Pick<ForeignDraft, 'key' | 'title' | 'place'> &
    Partial<Omit<ForeignDraft, 'status'>> & { readonly status?: ForeignStatus },
): ForeignDraft {
  const { status = 'TODO' } = known
  const isDropped = status === 'dropped'
  const draft = draftOf({ ...known, isDropped, status: isDropped ? 'TODO' : status })
  return { ...draft, description: draft.description ?? '' }
}

/** The status of a task in another tool; `dropped` if it is not to be done. */
export type ForeignStatus = Status | 'dropped'

const WORDS: readonly (readonly [ForeignStatus, string])[] = [
  [
    'TODO',
    'pending todo to_do open new in_progress hooked doing started active testing ready not_started planned backlog draft failed',
  ],
  ['DONE', 'done completed complete closed passed finished merged resolved'],
  ['BLOCKED', 'blocked deferred on_hold waiting paused review in_review'],
  ['dropped', 'cancelled canceled wont_do wontfix skipped obsolete duplicate archived tombstone pinned'],
]
const STATUS_WORDS = new Map(
  WORDS.flatMap(([status, words]) => words.split(' ').map((word) => [word, status])),
)

/** The status for a word, in any case and with any separators; undefined for an unknown word. */
export function foreignStatus(word: string): ForeignStatus | undefined {
  const key = word
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_')
    .replaceAll("'", '')
  return key === '' ? 'TODO' : STATUS_WORDS.get(key)
}

/** The status of a whole in another tool, from those of its parts. */
export function wholeStatus(parts: readonly ForeignStatus[]): 'completed' | 'in_progress' | 'pending' {
  if (parts.every((status) => status === 'DONE' || status === 'dropped')) return 'completed'
  return parts.includes('DONE') ? 'in_progress' : 'pending'
}

const LONGEST_TITLE = 100

/** The first line or sentence of a text, shortened to a title. */
export function titleOf(text: string): string {
  const [line = ''] = text.trim().split(/\r\n|\r|\n/, 1)
  const plain = line.replace(/\s+/g, ' ').replace(/^(?:[-*+]|#{1,6}|>)\s+/, '')
  const sentence =
    /^.{10,100}?[.!?。！？](?=\s)/u.exec(plain)?.[0].replace(/[.。]$/, '') ?? plain.replace(/[.:]$/, '')
  return shortened(sentence, LONGEST_TITLE)
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

/** Returns the key before each key, as its dependency; none if tasks are independent. */
export function chained(
  tasks: readonly { readonly key: string }[],
  { independent }: ReadingOptions,
): (key: string) => readonly string[] {
  if (independent) return () => []
  const keys = tasks.map(({ key }) => key)
  return (key) => [keys[keys.indexOf(key) - 1] ?? []].flat()
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
