import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Diagnostic } from '../base/diagnostic.ts'
import { deepFolder, foldersUnder, namesIn } from '../base/folder.ts'
import { fewOf } from '../base/text.ts'
import { clashOf, patternOf } from '../backlog/ids.ts'
import type { Status } from '../backlog/model.ts'
import { ownText } from '../backlog/plain-words.ts'
import { taskNames } from '../backlog/read.ts'
import { readTaskBytes } from '../backlog/task-files.ts'
import { fileIn } from '../backlog/task-folders.ts'
import { lookUpMarked, type TaskVocabulary } from '../backlog/vocabulary.ts'
import type { Config } from './defaults.ts'
import type { Place } from './project.ts'
import { NO_BACKLOG } from './task-folder.ts'

/** A file in a task folder, or below one, that looks like a task and is not read. */
export interface UnreadTask {
  readonly file: string
  /** Null for a status that is unknown, or missing. */
  readonly status: Status | null
}

type Around = Pick<Place, 'root' | 'folders' | 'vocabulary'> & { readonly unsaved?: Unsaved }

/** The text of a file in an editor. */
interface Unsaved {
  readonly file: string
  readonly text: string
}

// More are not looked at: a folder may hold anything.
const MOST_FILES = 1000

/** The files that look like tasks and are not read: they have a Status, or their own id as the heading. */
export function unreadTasks(place: Around): readonly UnreadTask[] {
  const { root, folders, vocabulary, unsaved } = place
  const tops = folders.names.map((name) => deepFolder(name) ?? name)
  const files = [...new Set(tops.flatMap((top) => otherFiles(place, top, top)))].toSorted()
  return files.slice(0, MOST_FILES).flatMap((file) => {
    const bytes = readTaskBytes(join(root, file), root)
    const saved = typeof bytes === 'string' ? ownText(bytes) : ''
    const status = statusIn(unsaved?.file === file ? unsaved.text : saved, file, vocabulary)
    return status === undefined ? [] : [{ file, status }]
  })
}

/** The Markdown files that are no tasks, in a folder and below it. */
function otherFiles({ root, folders, ...place }: Around, folder: string, top: string): readonly string[] {
  const { unsaved } = place
  const typed =
    unsaved && fileIn(folder, basename(unsaved.file)) === unsaved.file ? [basename(unsaved.file)] : []
  return [...namesIn(join(root, folder)), ...typed].flatMap((name) => {
    if (folder === top && folders.ids.inFileName(name) !== null) return []
    const file = fileIn(folder, name)
    if (folders.includes(file) || folders.ignores(name) || folders.ignores(file.slice(top.length + 1)))
      return []
    if (/\.(?:md|markdown)$/i.test(name)) return [file]
    const isFolder = top !== '.' && !name.startsWith('.') && !NO_BACKLOG.test(name)
    return isFolder ? otherFiles({ root, folders, ...place }, file, top) : []
  })
}

/** The status in the block of a file, null for an unknown one; undefined for a file that does not look like a task. */
function statusIn(
  text: string,
  file: string,
  { fields, statuses }: TaskVocabulary,
): Status | null | undefined {
  const [before = '', first = ''] = text.replace(/<!--[^]*?-->/g, '').split(/^## /m, 2)
  const words = [...fields].flatMap(([word, name]) => (name === 'Status' ? [escaped(word)] : []))
  const field = new RegExp(`^[ \\t>|*+-]*[*_]*(?:${words.join('|')})[*_]*[ \\t]*[:：|](.*)$`, 'im')
  const value = field.exec(`${before}\n${first}`.slice(0, LONGEST_HEAD))?.[1]
  if (value !== undefined) return lookUpMarked(statuses, value.replace(/[*_`|]+/g, '').trim()) ?? null
  const [, id] = OWN_ID.exec(file) ?? []
  if (id === undefined) return undefined
  return new RegExp(`^#[ \\t]+(?:task[ \\t]+)?\\[?${escaped(id)}(?!\\w)`, 'im').test(before)
    ? null
    : undefined
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)

const LONGEST_HEAD = 4000
const OWN_ID = /([^/\d]*\d[\d.]*[a-z]?)(?:[-_. ][^/]*)?\.(?:md|markdown)$/i

/** What `tasks` in the configuration could be, so that these files are read; null if no configuration reads them. */
export function tasksToRead(
  unread: readonly UnreadTask[],
  { folders, config, ...place }: Around & Pick<Place, 'config'>,
): Config['tasks'] | null {
  if (unread.length === 0) return null
  const { tasks } = config
  const given = typeof tasks === 'string' ? { dir: tasks, ignore: [], id: null } : tasks
  const patternsIn = (files: readonly string[]): readonly string[] =>
    files.flatMap((file) => patternOf(basename(file)) ?? [])
  const used = patternsIn(taskNames({ ...place, folders }).map(({ file }) => file))
  const known =
    given.id === null ? folders.ids.patterns.filter((one) => used.includes(one)) : [given.id].flat()
  const missing = patternsIn(unread.map(({ file }) => file)).filter(
    (one) => !known.some((other) => other.toLowerCase() === one.toLowerCase()),
  )
  const id = [...new Set([...known, ...missing])]
  const dir = folders.names.map((name) => {
    const isDeep = unread.some(
      ({ file }) => file.startsWith(`${name}/`) && file.slice(name.length + 1).includes('/'),
    )
    return isDeep ? `${name}/**` : name
  })
  const isUsual = id.length === 0 || (id.length === 1 && id[0] === folders.ids.patterns[0])
  if (clashOf(id) !== null || (missing.length === 0 && dir.every((name) => folders.names.includes(name))))
    return null
  // What nobody is to do stays so.
  const idle = dir.flatMap((name) => foldersOfNone(place.root, deepFolder(name)))
  const ignore = [...new Set([...given.ignore, ...idle])]
  if (isUsual && ignore.length === 0) return dir.length === 1 ? dir[0]! : { ...given, dir }
  return { dir: only(dir), id: isUsual ? null : only(id), ignore }
}

/** Patterns for the folders below one that are no backlog, such as an archive. */
function foldersOfNone(root: string, top: string | null): readonly string[] {
  if (top === null) return []
  const below = foldersUnder(root, top).filter((folder) => NO_BACKLOG.test(basename(folder)))
  return below.flatMap((folder) =>
    folder === top ? [] : [`${folder.slice(top === '.' ? 0 : top.length + 1)}/**`],
  )
}

const only = <T>(list: readonly T[]): T | readonly T[] => (list.length === 1 ? list[0]! : list)

/** The entry of the configuration as a person writes it. */
export function entryText(tasks: Config['tasks']): string {
  const { dir, id, ignore } = typeof tasks === 'string' ? { dir: tasks, id: null, ignore: [] } : tasks
  const entry = typeof tasks === 'string' ? tasks : shortEntry({ dir, id, ignore })
  return `"tasks": ${JSON.stringify(entry)}`
}

/** Without the values that are the default. */
export function shortEntry({ dir, id, ignore }: Exclude<Config['tasks'], string>): object {
  return { dir, ...(id === null ? {} : { id }), ...(ignore.length === 0 ? {} : { ignore }) }
}

/** What is said where tasks are not read that are to be done; null if there are none. */
export function unreadText(place: Around & Pick<Place, 'config'>): string | null {
  if (!existsSync(join(place.root, place.folders.first))) return null
  const open = unreadTasks(place).filter(({ status }) => status === 'TODO')
  if (open.length === 0) return null
  const entry = tasksToRead(open, place)
  const how = entry === null ? 'ralph lint says why' : `in ralph.config.json: ${entryText(entry)}`
  const files = open.map(({ file }) => file)
  return `not read, and TODO: ${fewOf(files, 3)}; ${how}`
}

export const UNREAD_RULE = { name: 'unread-task', severity: 'warning' } as const

/** A warning for each file that looks like a task and is not read; the text of one may be unsaved. */
export function unreadDiagnostics(place: Around & Pick<Place, 'config'>): readonly Diagnostic[] {
  const { name: rule, severity } = UNREAD_RULE
  const unread = unreadTasks(place)
  const entry = tasksToRead(unread, place)
  return unread.map(({ file }) => {
    const isNamed = entry !== null && patternOf(basename(file)) !== null
    const how = isNamed ? `name it in the configuration: ${entryText(entry)}` : 'give it the name of a task'
    const message = `looks like a task and is not read; ${how}, or ignore it with tasks.ignore`
    return { file, line: 1, column: 1, severity, rule, message }
  })
}
