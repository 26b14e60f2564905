import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { UserError } from '../base/errors.ts'
import { ownText } from './byte-text.ts'
import { idInFileName, idInPath } from './file-name.ts'
import { factsOf } from './facts.ts'
import type { FactName, Facts, Task, TaskHead, TaskName } from './model.ts'
import { inOrder } from './order.ts'
import { type FactsAsked, factsScanner } from './scan-facts.ts'
import { readTaskBytes, readTaskFiles, type TaskBytes, type Unreadable } from './task-files.ts'
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

/** Where a backlog lies, and in which words it is written. */
export interface BacklogOptions {
  readonly root: string
  /** Relative to the root, with forward slashes; `docs/tasks` by default. */
  readonly dir?: string
  /** More folders, which need not be there. */
  readonly moreDirs?: readonly string[]
  /** Whether the file of that name is no task, whatever it is called. */
  readonly isIgnored?: ((name: string) => boolean) | undefined
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
  return readFolder<TaskHead>(
    options,
    headOf,
    factsScanner(options.vocabulary ?? TASK_VOCABULARY, { facts: [] }),
  )
}

/**
 * Reads of each task some facts, in a fraction of the time where the files are in the plainest style. `see` is handed
 * those tasks that were read whole: where that is wanted, and where they are in another style.
 */
export async function readFacts<K extends FactName>(
  options: BacklogOptions,
  asked: FactsAsked<K>,
  see?: (facts: Facts<K>, task: Task) => void,
): Promise<Backlog<Facts<K>>> {
  return readFolder<Facts<K>>(options, ...factsReaders(options, asked, see))
}

/** The same of one task, as its file is now. */
export async function readTaskFacts<K extends FactName>(
  options: BacklogOptions,
  file: string,
  asked: FactsAsked<K>,
  see?: (facts: Facts<K>, task: Task) => void,
): Promise<Facts<K>> {
  const { root, vocabulary = TASK_VOCABULARY } = options
  const [keep, shortcut] = factsReaders(options, asked, see)
  const bytes = readTaskBytes(join(root, file), root)
  const short = typeof bytes === 'string' ? shortcut({ file, id: idInPath(file), bytes }) : null
  return short ?? keep(await readWhole(file, bytes, vocabulary))
}

function factsReaders<K extends FactName>(
  { vocabulary = TASK_VOCABULARY }: BacklogOptions,
  asked: FactsAsked<K>,
  see: (facts: Facts<K>, task: Task) => void = () => {},
): [keep: (task: Task) => Facts<K>, shortcut: Shortcut<Facts<K>>] {
  const keep = (task: Task): Facts<K> => {
    const facts = factsOf(task)
    see(facts, task)
    return facts
  }
  return [keep, factsScanner(vocabulary, asked)]
}

type Shortcut<T> = (taskBytes: TaskBytes) => T | null

async function readFolder<T extends TaskName>(
  options: BacklogOptions,
  keep: (task: Task) => T,
  shortcut: Shortcut<T>,
): Promise<Backlog<T>> {
  const { root, dir = TASK_FOLDER, moreDirs = [] } = options
  const tasks = await readFiles(options, dir, namesIn(root, dir, options), keep, shortcut)
  for (const more of moreDirs)
    if (existsSync(join(root, more)))
      tasks.push(...(await readFiles(options, more, namesIn(root, more, options), keep, shortcut)))
  return { root, dir, tasks: inOrder(tasks) }
}

/** Reads each file by the quickest reader that can: a shortcut over its bytes, the scanner, the Markdown parser. */
async function readFiles<T>(
  { root, vocabulary = TASK_VOCABULARY }: BacklogOptions,
  dir: string,
  names: readonly string[],
  keep: (task: Task) => T,
  shortcut: Shortcut<T>,
): Promise<T[]> {
  const kept: T[] = []
  const folder = join(root, dir)
  while (kept.length < names.length) {
    for (const bytes of readTaskFiles(folder, names, kept.length, root)) {
      const name = names[kept.length]!
      const file = `${dir}/${name}`
      const short = typeof bytes === 'string' ? shortcut({ file, id: idInFileName(name)!, bytes }) : null
      kept.push(short ?? keep(await readWhole(file, bytes, vocabulary)))
    }
  }
  return kept
}

/** Reads one task file again, as it is now. */
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
  // Loaded by the first file that asks for it: most backlogs are in the plainest style.
  parse ??= await import('./parse.ts')
  if (typeof bytes !== 'string') return parse.unreadableTask(file, bytes.problem)
  return parse.parseTask({ file, text: ownText(bytes) }, vocabulary)
}

let parse: typeof import('./parse.ts') | undefined

function headOf({ id, number, file, status, needs, held, problems }: Task): TaskHead {
  return { id, number, file, status, needs, held, problems }
}

function namesIn(root: string, dir: string, { isIgnored }: BacklogOptions): readonly string[] {
  try {
    const names = readdirSync(join(root, dir)).filter((name) => idInFileName(name) !== null)
    return isIgnored ? names.filter((name) => !isIgnored(name)) : names
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : error
    if (code === 'ENOENT') {
      throw new UserError(`no task folder at ${dir}`, 'Make one with ralph init, or name another with --dir.')
    }
    if (code === 'ENOTDIR') throw new UserError(`${dir} is not a folder`, 'Name the task folder with --dir.')
    throw new UserError(`the task folder ${dir} cannot be read (${String(code)})`, 'Check who may read it.')
  }
}
