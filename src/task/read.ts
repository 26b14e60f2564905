import { readdirSync } from 'node:fs'
import { join, sep } from 'node:path'
import { UserError } from '../base/errors.ts'
import { idInFileName } from './file-name.ts'
import { factsOf } from './facts.ts'
import type { FactName, Facts, Task, TaskHead, TaskName } from './model.ts'
import { parseTask, parseTaskWith, scanTask, unreadableTask } from './parse.ts'
import { loadParsers, type Parsers } from './reading.ts'
import { type FactsAsked, factsScanner } from './scan-facts.ts'
import { readTaskBytes, readTaskText, type TaskBytes } from './task-text.ts'
import { TASK_VOCABULARY, type TaskVocabulary } from './vocabulary.ts'

/** Every task of a project, those that cannot be read among them. */
export interface Backlog<T extends TaskName = Task> {
  /** The project's root, absolute. */
  readonly root: string
  /** The task folder relative to the root, with forward slashes. */
  readonly dir: string
  /** By number, and by file name where two have one number. */
  readonly tasks: readonly T[]
}

export interface BacklogOptions {
  readonly root: string
  /** Relative to the root, with forward slashes; `docs/tasks` by default. */
  readonly dir?: string
  readonly vocabulary?: TaskVocabulary
}

/** Where a backlog lies unless something else is said. */
const TASK_FOLDER = 'docs/tasks'

/** Reads the task folder. A file that cannot be read is a task whose problem says why; only a missing folder throws. */
export function readBacklog(options: BacklogOptions): Promise<Backlog>
/** The same of a large backlog: each task is dropped as soon as it is read, but for what is kept of it. */
export function readBacklog<T extends TaskName>(
  options: BacklogOptions,
  keep: (task: Task) => T,
): Promise<Backlog<T>>
export function readBacklog(
  options: BacklogOptions,
  keep: (task: Task) => TaskName = (task) => task,
): Promise<Backlog<TaskName>> {
  return readFolder(options, keep, () => null)
}

/** Reads of each task only what selection needs: several times as fast, where the files are in the plainest style. */
export function readHeads(options: BacklogOptions): Promise<Backlog<TaskHead>> {
  return readFolder<TaskHead>(options, headOf, factsScanner(vocabularyOf(options), { facts: [] }))
}

/**
 * Reads of each task some facts, in a fraction of the time where the files are in the plainest style. `see` is handed
 * those tasks that were read whole: where that is wanted, and where they are in another style.
 */
export function readFacts<K extends FactName>(
  options: BacklogOptions,
  asked: FactsAsked<K>,
  see: (facts: Facts<K>, task: Task) => void = () => {},
): Promise<Backlog<Facts<K>>> {
  const keep = (task: Task): Facts<K> => {
    const facts = factsOf(task)
    see(facts, task)
    return facts
  }
  return readFolder<Facts<K>>(options, keep, factsScanner(vocabularyOf(options), asked))
}

function vocabularyOf({ vocabulary = TASK_VOCABULARY }: BacklogOptions): TaskVocabulary {
  return vocabulary
}

/** Reads each file by the quickest reader that can: a shortcut over its bytes, the scanner, the Markdown parser. */
async function readFolder<T extends TaskName>(
  { root, dir = TASK_FOLDER, vocabulary = TASK_VOCABULARY }: BacklogOptions,
  keep: (task: Task) => T,
  shortcut: (taskBytes: TaskBytes) => T | null,
): Promise<Backlog<T>> {
  const folder = join(root, dir)
  const kept: T[] = []
  let parsers: Parsers | undefined
  for (const name of namesIn(folder, dir)) {
    const id = idInFileName(name)
    if (id === null) continue
    const file = `${dir}/${name}`
    const bytes = readTaskBytes(`${folder}${sep}${name}`, root)
    if ('problem' in bytes) {
      kept.push(keep(unreadableTask(file, bytes.problem)))
      continue
    }
    const short = shortcut({ file, id, bytes })
    if (short !== null) {
      kept.push(short)
      continue
    }
    const taskFile = { file, text: bytes.toString('utf8') }
    const task = scanTask(taskFile, vocabulary)
    if (task === null) parsers ??= await loadParsers()
    kept.push(keep(task ?? parseTaskWith(taskFile, vocabulary, parsers!)))
  }
  return { root, dir, tasks: inNumberOrder(kept) }
}

/** Reads one task file again, as it is now. */
export async function readTask(
  root: string,
  file: string,
  vocabulary: TaskVocabulary = TASK_VOCABULARY,
): Promise<Task> {
  const text = readTaskText(join(root, file), root)
  if (typeof text !== 'string') return unreadableTask(file, text.problem)
  return parseTask({ file, text }, vocabulary)
}

function headOf({ id, number, file, status, needs, held, problems }: Task): TaskHead {
  return { id, number, file, status, needs, held, problems }
}

/** By number, and by file name where two have one number. Where no two do, each has its place, and nothing is compared. */
function inNumberOrder<T extends TaskName>(tasks: readonly T[]): readonly T[] {
  const places: T[] = []
  for (const task of tasks) {
    if (task.number > SPARSEST * tasks.length || places[task.number] !== undefined)
      return tasks.toSorted(byNumber)
    places[task.number] = task
  }
  return places.filter(() => true)
}

// Beyond this, a list by number would be mostly holes.
const SPARSEST = 4

function byNumber(a: TaskName, b: TaskName): number {
  if (a.number !== b.number) return a.number - b.number
  return a.file < b.file ? -1 : 1
}

function namesIn(folder: string, dir: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : error
    if (code === 'ENOENT') {
      throw new UserError(`no task folder at ${dir}`, 'Make one with ralph init, or name another with --dir.')
    }
    if (code === 'ENOTDIR') throw new UserError(`${dir} is not a folder`, 'Name the task folder with --dir.')
    throw new UserError(`the task folder ${dir} cannot be read (${String(code)})`, 'Check who may read it.')
  }
}
