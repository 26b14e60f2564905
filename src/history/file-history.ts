import { readChanges, type CommitChanges } from '../git/changes.ts'
import type { Git } from '../git/git.ts'
import type { TaskEnd } from '../backlog/model.ts'
import type { TaskVocabulary } from '../backlog/vocabulary.ts'
import { changeOf, turnedDone, type VersionPair } from './task-versions.ts'

/** What is needed to read the history of files. */
interface FileHistory {
  /** The path from the top of the repository to the project. */
  readonly prefix: string
  /** Whether this clone lacks older commits: its oldest ones seem to add all files. */
  readonly isShallow: boolean
  readonly vocabulary: TaskVocabulary
}

/** The newest commit that turned each task's file DONE, whatever its message. */
export async function commitsByFile(
  git: Git,
  tasks: readonly TaskEnd[],
  history: FileHistory,
): Promise<ReadonlyMap<TaskEnd, string>> {
  if (tasks.length === 0) return new Map()
  const all = await readChanges(git, { pattern: '**/[Tt]-*.[Mm][Dd]' })
  const commits = history.isShallow ? all.filter(({ parents }) => parents.length > 0) : all
  const steps = tasks.flatMap((task) => stepsOf(task, `${history.prefix}${task.file}`, commits))
  const turned = await turnedDone(git, steps, history.vocabulary)
  const found = new Map<TaskEnd, string>()
  for (const [index, { task, commit }] of steps.entries())
    if (turned[index] && !found.has(task)) found.set(task, commit)
  return found
}

/** Every change of a task's file, newest first, also from before it was moved. */
function stepsOf(
  task: TaskEnd,
  path: string,
  commits: readonly CommitChanges[],
): readonly (VersionPair & { readonly commit: string })[] {
  let at = path
  return commits.flatMap(({ commit, changes }) => {
    const own = changes.find((change) => change.path === at)
    if (!own) return []
    const change = changeOf(task, at, changes) ?? own
    const from = changes.find(({ before, after }) => after === null && before === change.before)
    if (own.before === null && from) at = from.path
    return [{ task, commit, before: change.before, after: change.after }]
  })
}
