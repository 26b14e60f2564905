import { idInFileName } from '../task/file-name.ts'
import type { Change, Work } from '../workspace/workspace.ts'

/** Something that an agent did to what is ralph's or the person's, and what became of it. */
export type Interference =
  /** It committed; the commits are kept with the attempt, their content goes into the task's one commit. */
  | { readonly kind: 'commits'; readonly commits: readonly string[] }
  /** HEAD was on another branch, or on none, or the branch went back behind where it was. */
  | { readonly kind: 'branch' }
  /** It left a merge, a rebase or the like unfinished. */
  | { readonly kind: 'operation'; readonly operation: string }
  /** It changed or removed task files, or added one whose number is taken: put back. */
  | { readonly kind: 'task-files'; readonly paths: readonly string[] }
  /** It went back behind where it began: what that had taken out of the tree was put back. */
  | { readonly kind: 'went-back'; readonly paths: readonly string[] }
  /** It deleted branches, tags, stashes or kept attempts: made again. */
  | { readonly kind: 'refs-deleted'; readonly refs: readonly string[] }
  /** It moved or made some: left, but for those among the attempts, which are ralph's. */
  | { readonly kind: 'refs-moved' | 'refs-made'; readonly refs: readonly string[] }
  /** It changed git's configuration or hooks: put back, its version kept beside the log. */
  | { readonly kind: 'git-settings'; readonly paths: readonly string[]; readonly keptIn: string }
  /** It changed what decides whether a gate passes; left as it is, named in the commit. */
  | { readonly kind: 'gates-changed'; readonly paths: readonly string[] }
  /** It made git see files that it had ignored, the person's or ralph's own: left where they are, not committed. */
  | { readonly kind: 'exposed'; readonly paths: readonly string[] }
  /** It made a repository inside this one; left where it is, not committed. */
  | { readonly kind: 'nested-repository'; readonly paths: readonly string[] }

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
