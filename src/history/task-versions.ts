import { readChanges, type CommitChanges, type FileChange } from '../git/raw-changes.ts'
import { contentsOf } from '../git/contents.ts'
import type { Git } from '../git/git.ts'
import type { TaskIds, TaskNumber } from '../backlog/ids.ts'
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

/** Of these changes those that turned the file DONE, with the file after it; one or two git processes. */
export async function turnedDone<Step extends VersionPair>(
  git: Git,
  steps: readonly Step[],
  vocabulary: TaskVocabulary,
): Promise<readonly (Step & { readonly version: TaskEnd })[]> {
  const names = steps.flatMap(({ before, after }) => [before, after].filter((name) => name !== null))
  const contents = await contentsOf(git, names)
  const turned: (Step & { readonly version: TaskEnd })[] = []
  for (const step of steps) {
    const version = await versionIn(step.task, contents.get(step.after ?? ''), vocabulary)
    if (version?.status !== 'DONE') continue
    const before = await versionIn(step.task, contents.get(step.before ?? ''), vocabulary)
    if (before?.status !== 'DONE') turned.push({ ...step, version })
  }
  return turned
}

/** Of these commits those that turned a file with the number of the task DONE, with its path. */
export async function pathsTurned<Claim extends { readonly id: string; readonly commit: string }>(
  git: Git,
  claims: readonly Claim[],
  vocabulary: TaskVocabulary,
): Promise<readonly (Claim & { readonly path: string })[]> {
  const { ids } = vocabulary
  const commits = await readChanges(git, { commits: [...new Set(claims.map(({ commit }) => commit))] })
  const changesOf = new Map(commits.map(({ commit, changes }) => [commit, changes]))
  const steps = claims.flatMap((claim) => {
    // The file may have been elsewhere at that time; its number identifies it.
    const change = changeOf(
      { number: ids.numberOf(claim.id), path: '', ids },
      changesOf.get(claim.commit) ?? [],
    )
    return change ? [{ ...claim, ...change, task: { id: claim.id, file: '' } }] : []
  })
  return turnedDone(git, steps, vocabulary)
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
  { claims, ids }: { claims: Pick<ReadonlySet<string>, 'has'>; ids: TaskIds },
): readonly TaskStep[] {
  let at = path
  return history.flatMap(({ commit, changes }) => {
    const own = changes.find((change) => change.path === at)
    if (!own && !claims.has(commit)) return []
    const change = changeOf({ number: task.number, path: at, ids }, changes) ?? own
    if (!change) return []
    const from = changes.find(({ before, after }) => after === null && before === change.before)
    if (own?.before === null && from) at = from.path
    return [{ task, commit, isElsewhere: !own, before: change.before, after: change.after }]
  })
}

/** The change of a commit to a task's file: to that at the path, or otherwise to one with another name. */
export function changeOf(
  { number, path, ids }: { number: TaskNumber; path: string; ids: TaskIds },
  changes: readonly FileChange[],
): FileChange | null {
  const own = changes.filter((change) => ids.numberOf(ids.inPath(change.path)) === number)
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
