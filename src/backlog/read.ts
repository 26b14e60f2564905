import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { deepFolder, foldersUnder } from '../base/folder.ts'
import { UserError, codeOf } from '../base/errors.ts'
import { ownText } from './plain-words.ts'
import { type TaskFolders, USUAL_FOLDERS, fileIn } from './task-folders.ts'
import type { FactName, Facts, Task, TaskFacts, TaskHead, TaskName } from './model.ts'
import { inOrder } from './order.ts'
import { type FactRequest, factsScanner } from './head-reader.ts'
import { type TaskBytes, type Unreadable, readTaskBytes } from './task-files.ts'
import { TASK_VOCABULARY, type TaskVocabulary } from './vocabulary.ts'

/** All tasks of a project, including those that cannot be read. */
export interface Backlog<T extends TaskName = Task> {
  /** The project's root, absolute. */
  readonly root: string
  /** By number, then by file name. */
  readonly tasks: readonly T[]
}

/** The place and the vocabulary of a backlog. */
export interface BacklogOptions {
  readonly root: string
  /** `docs/tasks` by default. At least one must exist. */
  readonly folders?: TaskFolders
  readonly vocabulary?: TaskVocabulary
}

/** Reads the task folders. A file that cannot be read becomes a task with a problem; it throws only if no folder exists. */
export async function readBacklog(options: BacklogOptions): Promise<Backlog> {
  return { root: options.root, tasks: await mapTasks(options, (task) => task) }
}

/** Reads only the head of each task: several times as fast for files in the plainest style. */
export function readHeads(options: BacklogOptions): Promise<Backlog<TaskHead>> {
  return readFacts(options, { facts: [] })
}

/**
 * Reads some facts of each task, much faster for files in the plainest style. `see` is called for tasks that were
 * read whole: because that is wanted, or because of their style.
 */
export async function readFacts<K extends FactName>(
  options: BacklogOptions,
  request: FactRequest<K>,
  see?: (facts: Facts<K>, task: Task) => void,
): Promise<Backlog<Facts<K>>> {
  const among = amongTasks(options)
  const scan = factsScanner(among.vocabulary, request)
  return { root: options.root, tasks: await mapTasks(among, keeper(see), scan) }
}

/** The same for one task, from its current file. */
export async function readTaskFacts<K extends FactName>(
  { root, vocabulary = TASK_VOCABULARY }: BacklogOptions,
  file: string,
  request: FactRequest<K>,
  see?: (facts: Facts<K>, task: Task) => void,
): Promise<Facts<K>> {
  const bytes = readTaskBytes(join(root, file), root)
  const scan = factsScanner(vocabulary, request)
  const short = typeof bytes === 'string' ? scan({ file, id: vocabulary.ids.inPath(file), bytes }) : null
  return short ?? keeper(see)(await readWhole(file, bytes, vocabulary))
}

function keeper<K extends FactName>(
  see: (facts: Facts<K>, task: Task) => void = () => {},
): (task: Task) => Facts<K> {
  return (task) => {
    const facts = factsOf(task)
    see(facts, task)
    return facts
  }
}

/**
 * What `keep` returns for each task, in order: of a large backlog only that stays in memory. Each file is read with the
 * fastest reader that can: a shortcut over its bytes, the scanner, the Markdown parser.
 */
export async function mapTasks<T>(
  options: BacklogOptions,
  keep: (task: Task) => T,
  shortcut: (taskBytes: TaskBytes) => T | null = () => null,
): Promise<readonly T[]> {
  const { root, names, vocabulary } = amongTasks(options)
  const kept: T[] = []
  for (const { file, id } of names) {
    const bytes = readTaskBytes(`${root}/${file}`, root)
    const short = typeof bytes === 'string' ? shortcut({ file, id, bytes }) : null
    kept.push(short ?? keep(await readWhole(file, bytes, vocabulary)))
  }
  return kept
}

/** The names of all tasks, and a vocabulary with which ranges among them are read. */
function amongTasks(options: BacklogOptions & { readonly names?: readonly TaskName[] }) {
  const { vocabulary = TASK_VOCABULARY, names = taskNames(options) } = options
  return { ...options, names, vocabulary: { ...vocabulary, ids: vocabulary.ids.among(names) } }
}

/** The names of all task files, in order; reads none of them. */
export function taskNames({ root, folders = USUAL_FOLDERS }: BacklogOptions): readonly TaskName[] {
  const { first, ids, ignores, includes } = folders
  const found: TaskName[] = []
  const present = presentFolders(root, folders)
  for (const folder of present.length > 0 ? present : [first]) {
    for (const name of namesIn(root, folder)) {
      const id = ignores(name) ? null : ids.inFileName(name)
      const file = fileIn(folder, name)
      if (id !== null && (folder === first || includes(file)))
        found.push({ id, number: ids.numberOf(id), file })
    }
  }
  return inOrder(found)
}

/** Those of the task folders that exist, with all below `docs/tasks/**`: git keeps no empty folder, so a clone may lack some. */
export function presentFolders(root: string, { names }: TaskFolders): readonly string[] {
  return names.flatMap((name) => {
    const deep = deepFolder(name)
    if (!existsSync(join(root, deep ?? name))) return []
    return deep === null ? [name] : foldersUnder(root, deep)
  })
}

/** Reads one task file again. */
export async function readTask(
  root: string,
  file: string,
  vocabulary: TaskVocabulary = TASK_VOCABULARY,
): Promise<Task> {
  return readWhole(file, readTaskBytes(join(root, file), root), vocabulary)
}

async function readWhole(
  file: string,
  bytes: string | Unreadable,
  vocabulary: TaskVocabulary,
): Promise<Task> {
  // Loaded for the first file that needs it: most backlogs are in the plainest style.
  parse ??= await import('./parse.ts')
  if (typeof bytes !== 'string') return parse.unreadableTask(file, bytes.problem, vocabulary)
  return parse.parseTask({ file, text: ownText(bytes) }, vocabulary)
}

let parse: typeof import('./parse.ts') | undefined

function namesIn(root: string, dir: string): readonly string[] {
  try {
    return readdirSync(join(root, dir))
  } catch (error) {
    const code = codeOf(error) ?? error
    if (code === 'ENOENT') {
      throw new UserError(`no task folder at ${dir}`, 'Make one with ralph init, or name another with --dir.')
    }
    if (code === 'ENOTDIR') throw new UserError(`${dir} is not a folder`, 'Name the task folder with --dir.')
    throw new UserError(`the task folder ${dir} cannot be read (${String(code)})`, 'Check who may read it.')
  }
}

/** The facts of a task without its text. */
export function factsOf(task: Task): TaskFacts {
  const depends = task.depends.map(({ id, number }) => ({ id, number }))
  const fields = task.fields.filter(({ name }) => name === null)
  const { source: _source, bom: _bom, sections: _sections, ...facts } = { ...task, depends, fields }
  return detached(facts)
}

/** Copies the strings in a value: a part of a text would keep the whole text in memory. */
export function detached<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T
}
