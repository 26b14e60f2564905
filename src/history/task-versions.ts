import { readChanges, type FileChange } from '../git/changes.ts'
import { contentsOf } from '../git/contents.ts'
import type { Git } from '../git/git.ts'
import { idInPath } from '../backlog/file-name.ts'
import type { TaskEnd } from '../backlog/model.ts'
import { parseTask } from '../backlog/parse.ts'
import { perVocabulary } from '../backlog/plain-words.ts'
import { factsScanner } from '../backlog/scan-facts.ts'
import type { TaskVocabulary } from '../backlog/vocabulary.ts'

/** A commit that may have completed a task. */
export interface PossibleCommit {
  readonly task: TaskEnd
  readonly commit: string
}

/** A task's file before and after something, by git's hash of its content; null if it did not exist. */
export interface VersionPair {
  readonly task: TaskEnd
  readonly before: string | null
  readonly after: string | null
}

/** The file after the change, if that turned it DONE, else null; one or two git processes. */
export async function turnedDone(
  git: Git,
  pairs: readonly VersionPair[],
  vocabulary: TaskVocabulary,
): Promise<readonly (TaskEnd | null)[]> {
  const names = pairs.flatMap(({ before, after }) => [before, after].filter((name) => name !== null))
  const contents = await contentsOf(git, names)
  const turned: (TaskEnd | null)[] = []
  for (const { task, before, after } of pairs) {
    const now = await versionIn(task, contents.get(after ?? ''), vocabulary)
    const then = now?.status === 'DONE' ? await versionIn(task, contents.get(before ?? ''), vocabulary) : null
    turned.push(now?.status === 'DONE' && then?.status !== 'DONE' ? now : null)
  }
  return turned
}

/** A commit that turned a task's file DONE. */
interface Turning extends PossibleCommit {
  /** The path of the file then, from the top of the repository. */
  readonly path: string
  /** The content of the file then. */
  readonly version: TaskEnd
}

/**
 * The commits that turned the file DONE, in order; those of a file at another path come last, as it may have been
 * moved since, or belong to a neighbour. `prefix` leads from the top of the repository to the project.
 */
export async function turningAmong(
  git: Git,
  candidates: readonly PossibleCommit[],
  { prefix, vocabulary }: { readonly prefix: string; readonly vocabulary: TaskVocabulary },
): Promise<readonly Turning[]> {
  const commits = await readChanges(git, { commits: [...new Set(candidates.map(({ commit }) => commit))] })
  const changes = new Map(commits.map((one) => [one.commit, one.changes]))
  const steps = candidates.flatMap(({ task, commit }) => {
    const path = `${prefix}${task.file}`
    const change = changeOf(task, path, changes.get(commit) ?? [])
    return change ? [{ ...change, task, commit, isElsewhere: change.path !== path }] : []
  })
  const versions = await turnedDone(git, steps, vocabulary)
  const turned = steps.flatMap((step, index) => {
    const version = versions[index]
    return version ? [{ ...step, version }] : []
  })
  return [
    ...turned.filter(({ isElsewhere }) => !isElsewhere),
    ...turned.filter(({ isElsewhere }) => isElsewhere),
  ]
}

/** The change of a commit to a task's file: to that at the path, or otherwise to one with another name. */
export function changeOf(
  { number }: TaskEnd,
  path: string,
  changes: readonly FileChange[],
): FileChange | null {
  const own = changes.filter((change) => numberIn(change.path) === number)
  const change = own.find((one) => one.path === path) ?? own.find(({ after }) => after !== null)
  if (!change || change.before !== null) return change ?? null
  // It was moved from where another file of the task was deleted.
  const from = own.find(({ after }) => after === null)
  return from ? { ...change, before: from.before } : change
}

function numberIn(path: string): number {
  return Number(idInPath(path).slice(2))
}

/** Usually synchronous: only the parser takes time. */
function versionIn(
  { id, file }: TaskEnd,
  bytes: Buffer | undefined,
  vocabulary: TaskVocabulary,
): TaskEnd | null | Promise<TaskEnd> {
  if (!bytes) return null
  const scanEnd = endScanner(vocabulary)
  return (
    scanEnd({ file, id, bytes: bytes.toString('latin1') }) ??
    parseTask({ file, text: bytes.toString() }, vocabulary)
  )
}

const endScanner = perVocabulary((vocabulary) => factsScanner(vocabulary, { facts: ['commit'] }))
