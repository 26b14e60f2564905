import { isAscii, isUtf8 } from 'node:buffer'
import { closeSync, type Dirent, fstatSync, openSync, readdirSync, readSync, realpathSync } from 'node:fs'
import { isAbsolute, join, relative, sep } from 'node:path'
import { UserError } from '../base/errors.ts'
import { idInFileName } from './file-name.ts'
import type { Task, TaskHead } from './model.ts'
import { parseTaskWith, scanTask, type TaskFile, unreadableTask } from './parse.ts'
import { loadParsers } from './reading.ts'
import { scanHead } from './scan-head.ts'
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
  return readFolder(options, scanTask)
}

/** Reads of each task only what selection needs: several times as fast, where the files are in the ordinary style. */
export function readHeads(options: BacklogOptions): Promise<Backlog<TaskHead>> {
  return readFolder<TaskHead>(
    options,
    (taskFile, vocabulary) => scanHead(taskFile, vocabulary) ?? scanTask(taskFile, vocabulary),
  )
}

async function readFolder<T extends TaskHead>(
  { root, dir = TASK_FOLDER, vocabulary = TASK_VOCABULARY }: BacklogOptions,
  scan: (taskFile: TaskFile, vocabulary: TaskVocabulary) => T | null,
): Promise<Backlog<T | Task>> {
  const folder = join(root, dir)
  const tasks: (T | Task)[] = []
  const declined: TaskFile[] = []
  for (const entry of taskEntries(folder, dir)) {
    const file = `${dir}/${entry.name}`
    const reading = readText(join(folder, entry.name), entry, root)
    if (typeof reading !== 'string') {
      tasks.push(unreadableTask(file, reading.problem))
      continue
    }
    const taskFile = { file, text: reading }
    const task = scan(taskFile, vocabulary)
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
  const reading = readText(join(root, file), null, root)
  if (typeof reading !== 'string') return unreadableTask(file, reading.problem)
  const taskFile = { file, text: reading }
  return scanTask(taskFile, vocabulary) ?? parseTaskWith(taskFile, vocabulary, await loadParsers())
}

function byNumber(a: TaskHead, b: TaskHead): number {
  if (a.number !== b.number) return a.number - b.number
  return a.file < b.file ? -1 : 1
}

function taskEntries(folder: string, dir: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).filter((entry) => idInFileName(entry.name) !== null)
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENOENT')
      throw new UserError(`no task folder at ${dir}`, 'Make one with ralph init, or name another with --dir.')
    if (code === 'ENOTDIR') throw new UserError(`${dir} is not a folder`, 'Name the task folder with --dir.')
    throw new UserError(`the task folder ${dir} cannot be read (${code})`, 'Check who may read it.')
  }
}

// A task is about 2 KB. One buffer serves all files: reading ten thousand so takes half the time of readFile.
const buffer = Buffer.allocUnsafeSlow(64 * 1024)
const LARGEST = 1024 * 1024

/** The text of a file, or what keeps it from being read. */
function readText(path: string, entry: Dirent | null, root: string): string | { problem: string } {
  const refusal = entry === null || entry.isFile() ? null : refusalOf(path, entry, root)
  if (refusal !== null) return { problem: refusal }
  let file: number
  try {
    file = openSync(path, 'r')
  } catch (error) {
    return { problem: `cannot be opened (${codeOf(error)})` }
  }
  try {
    return decode(readBytes(file))
  } catch (error) {
    return { problem: `cannot be read (${codeOf(error)})` }
  } finally {
    closeSync(file)
  }
}

/** Why a name that is no plain file is not read: opening a pipe would wait for ever, a link may lead out of the project. */
function refusalOf(path: string, entry: Dirent, root: string): string | null {
  if (entry.isDirectory()) return 'is a folder, not a file'
  if (!entry.isSymbolicLink()) return 'is not a plain file'
  let target: string
  try {
    target = relative(realpathSync(root), realpathSync(path))
  } catch {
    return 'is a link that leads nowhere'
  }
  const isOutside = target === '..' || target.startsWith(`..${sep}`) || isAbsolute(target)
  return isOutside ? 'is a link that leads out of the project' : null
}

function readBytes(file: number): Buffer | { problem: string } {
  const length = readSync(file, buffer, 0, buffer.length, null)
  if (length < buffer.length) return buffer.subarray(0, length)
  const { size } = fstatSync(file)
  if (size > LARGEST)
    return { problem: `has ${(size / LARGEST).toFixed(1)} MB; a task file has at most 1 MB` }
  const whole = Buffer.alloc(size)
  buffer.copy(whole)
  let at = length
  while (at < size) {
    const more = readSync(file, whole, at, size - at, at)
    if (more === 0) break
    at += more
  }
  return whole.subarray(0, at)
}

function decode(bytes: Buffer | { problem: string }): string | { problem: string } {
  if (!Buffer.isBuffer(bytes)) return bytes
  if (isAscii(bytes)) return bytes.toString('latin1')
  return isUtf8(bytes) ? bytes.toString('utf8') : { problem: 'is not UTF-8 text' }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}
