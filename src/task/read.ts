import { readdirSync } from 'node:fs'
import { join, sep } from 'node:path'
import { UserError } from '../base/errors.ts'
import { idInFileName } from './file-name.ts'
import type { Task, TaskHead } from './model.ts'
import { parseTask, parseTaskWith, scanTask, type TaskFile, unreadableTask } from './parse.ts'
import { loadParsers } from './reading.ts'
import { scanHead } from './scan-head.ts'
import { readTaskBytes, readTaskText } from './task-text.ts'
import { TASK_VOCABULARY, type TaskVocabulary } from './vocabulary.ts'

/** Every task of a project, those that cannot be read among them. */
export interface Backlog<T extends TaskHead = Task> {
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
export const TASK_FOLDER = 'docs/tasks'

/** Reads the task folder. A file that cannot be read is a task whose problem says why; only a missing folder throws. */
export function readBacklog(options: BacklogOptions): Promise<Backlog> {
  return readFolder<Task>(options, null)
}

/** Reads of each task only what selection needs: several times as fast, where the files are in the plainest style. */
export function readHeads(options: BacklogOptions): Promise<Backlog<TaskHead>> {
  return readFolder<TaskHead>(options, scanHead)
}

/** Reads each file by the quickest reader that can: a shortcut over its bytes, the scanner, the Markdown parser. */
async function readFolder<T extends TaskHead>(
  { root, dir = TASK_FOLDER, vocabulary = TASK_VOCABULARY }: BacklogOptions,
  shortcut: ((file: string, bytes: string, vocabulary: TaskVocabulary) => T | null) | null,
): Promise<Backlog<T | Task>> {
  const folder = join(root, dir)
  const tasks: (T | Task)[] = []
  const declined: TaskFile[] = []
  for (const name of taskNames(folder, dir)) {
    const file = `${dir}/${name}`
    const bytes = readTaskBytes(`${folder}${sep}${name}`, root)
    if ('problem' in bytes) {
      tasks.push(unreadableTask(file, bytes.problem))
      continue
    }
    const head = shortcut && shortcut(file, bytes.toString('latin1'), vocabulary)
    if (head !== null) {
      tasks.push(head)
      continue
    }
    const taskFile = { file, text: bytes.toString('utf8') }
    const task = scanTask(taskFile, vocabulary)
    if (task === null) declined.push(taskFile)
    else tasks.push(task)
  }
  if (declined.length > 0) {
    const parsers = await loadParsers()
    for (const taskFile of declined) tasks.push(parseTaskWith(taskFile, vocabulary, parsers))
  }
  return { root, dir, tasks: tasks.sort(byNumber) }
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

function byNumber(a: TaskHead, b: TaskHead): number {
  if (a.number !== b.number) return a.number - b.number
  return a.file < b.file ? -1 : 1
}

function taskNames(folder: string, dir: string): string[] {
  try {
    return readdirSync(folder).filter((name) => idInFileName(name) !== null)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : error
    if (code === 'ENOENT') {
      throw new UserError(`no task folder at ${dir}`, 'Make one with ralph init, or name another with --dir.')
    }
    if (code === 'ENOTDIR') throw new UserError(`${dir} is not a folder`, 'Name the task folder with --dir.')
    throw new UserError(`the task folder ${dir} cannot be read (${String(code)})`, 'Check who may read it.')
  }
}
