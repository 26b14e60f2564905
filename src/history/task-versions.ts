import { readChanges, type CommitChanges, type FileChange } from '../git/raw-changes.ts'
import { contentsOf } from '../git/contents.ts'
import type { Git } from '../git/git.ts'
import { idInPath } from '../backlog/file-name.ts'
import type { TaskEnd } from '../backlog/model.ts'
import { parseTask } from '../backlog/parse.ts'
import { perVocabulary } from '../backlog/plain-words.ts'
import { factsScanner } from '../backlog/head-reader.ts'
import type { TaskVocabulary } from '../backlog/vocabulary.ts'

/** A task's file before and after something, by git's hash of its content; null if it did not exist. */
interface VersionPair {
  readonly task: Pick<TaskEnd, 'id' | 'file'>
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

/** A commit that names a task, which it may have completed. */
interface Claim {
  readonly id: string
  readonly commit: string
}

/** The path at which each commit turned a file with its task's number DONE; null if it did not. */
export async function pathsTurned(
  git: Git,
  claims: readonly Claim[],
  vocabulary: TaskVocabulary,
): Promise<readonly (string | null)[]> {
  const commits = await readChanges(git, { commits: [...new Set(claims.map(({ commit }) => commit))] })
  const changesOf = new Map(commits.map(({ commit, changes }) => [commit, changes]))
  const steps = claims.map(({ id, commit }) => {
    // The file may have been elsewhere at that time; its number identifies it.
    const change = changeOf(Number(id.slice(2)), '', changesOf.get(commit) ?? [])
    return { task: { id, file: '' }, path: null, before: null, after: null, ...change }
  })
  const versions = await turnedDone(git, steps, vocabulary)
  return steps.map(({ path }, index) => (versions[index] ? path : null))
}

/** What a commit did to a task's file. */
interface TaskStep extends VersionPair {
  readonly task: TaskEnd
  readonly commit: string
  /** Whether the file had another path: it may have been moved since, or belong to a neighbour. */
  readonly isElsewhere: boolean
}

/** Every change of a task's file, newest first, also from before it was moved; of one elsewhere only by these commits. */
export function stepsOf(
  task: TaskEnd,
  path: string,
  history: readonly CommitChanges[],
  claims: Pick<ReadonlySet<string>, 'has'>,
): readonly TaskStep[] {
  let at = path
  return history.flatMap(({ commit, changes }) => {
    const own = changes.find((change) => change.path === at)
    if (!own && !claims.has(commit)) return []
    const change = changeOf(task.number, at, changes) ?? own
    if (!change) return []
    const from = changes.find(({ before, after }) => after === null && before === change.before)
    if (own?.before === null && from) at = from.path
    return [{ task, commit, isElsewhere: !own, before: change.before, after: change.after }]
  })
}

/** The change of a commit to a task's file: to that at the path, or otherwise to one with another name. */
export function changeOf(number: number, path: string, changes: readonly FileChange[]): FileChange | null {
  const own = changes.filter((change) => Number(idInPath(change.path).slice(2)) === number)
  const change = own.find((one) => one.path === path) ?? own.find(({ after }) => after !== null)
  if (!change || change.before !== null) return change ?? null
  // It was moved from where another file of the task was deleted.
  const from = own.find(({ after }) => after === null)
  return from ? { ...change, before: from.before } : change
}

/** Usually synchronous: only the parser takes time. */
function versionIn(
  { id, file }: VersionPair['task'],
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
