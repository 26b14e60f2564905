import type { Interference } from '../events/interference.ts'
import { idInFileName } from '../task/file-name.ts'
import type { Change, Work } from '../workspace/workspace.ts'

/** Where tasks are, and which numbers are taken. */
export interface TaskFolder {
  /** The task folder inside the repository, ending with a slash. */
  readonly folder: string
  /** The file of every task there was when the attempt began, by number. */
  readonly files: ReadonlyMap<number, string>
}

/** What is to be undone, or told, of the work of an agent. */
export function interferenceOf(work: Work, tasks: TaskFolder): readonly Interference[] {
  const found: Interference[] = []
  if (work.head && work.head.commits.length > 0) found.push({ kind: 'commits', commits: work.head.commits })
  if (work.head && (work.head.switched || work.head.commits.length === 0)) found.push({ kind: 'branch' })
  for (const operation of work.operations) found.push({ kind: 'operation', operation })
  const touched = touchedTaskFiles(work.changes, tasks)
  if (touched.length > 0) found.push({ kind: 'task-files', paths: touched })
  if (work.exposed.length > 0) found.push({ kind: 'exposed', paths: work.exposed })
  if (work.nested.length > 0) found.push({ kind: 'nested-repository', paths: work.nested })
  return found
}

/** The changes that count as work: those to task files do not, but a new task is work. */
export function workChanges(work: Work, tasks: TaskFolder): readonly Change[] {
  const touched = new Set(touchedTaskFiles(work.changes, tasks))
  return work.changes.filter((change) => !touched.has(change.path))
}

function touchedTaskFiles(changes: readonly Change[], tasks: TaskFolder): readonly string[] {
  return changes.filter((change) => breaks(change, tasks)).map((change) => change.path)
}

function breaks({ path, kind }: Change, { folder, files }: TaskFolder): boolean {
  if (!path.startsWith(folder)) return false
  const name = path.slice(folder.length)
  const id = name.includes('/') ? null : idInFileName(name)
  if (id === null) return false
  return kind !== 'new' || files.has(Number(id.slice(2)))
}
