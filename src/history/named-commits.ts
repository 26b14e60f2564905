import type { Git } from '../git/git.ts'
import { readLog } from '../git/log.ts'
import type { Facts, TaskEnd } from '../backlog/model.ts'

/** The facts of a task file for a completion that only the file names. */
export type DoneTask = Facts<'title' | 'commit' | 'completed' | 'cost'>

/**
 * Of some commits of history, those that these DONE tasks' files name, and whether other tasks name the same one: then
 * its message is about them as well. Two git processes, or none.
 */
export async function completionsNamed(
  git: Git,
  tasks: readonly DoneTask[],
  { revisions = ['HEAD'], since }: { revisions?: readonly string[]; since?: string },
) {
  const done = tasks.filter((task) => task.status === 'DONE' && prefixOf(task) !== null)
  if (done.length === 0) return []
  const period = since === undefined ? [] : [`--since=${since}`]
  const { stdout } = await git.run(['rev-list', ...period, '--end-of-options', ...revisions, '--'])
  const named = namedCommits(done, stdout.toString('latin1').trimEnd().split('\n'))
  // Digits that fit several commits are ambiguous.
  const counts = countBy(named, ({ task }) => task)
  const certain = named.filter(({ task }) => counts.get(task) === 1)
  if (certain.length === 0) return []
  const sharers = countBy(certain, ({ commit }) => commit)
  const entries = await readLog(git, { commits: [...sharers.keys()] })
  const byHash = new Map(entries.map((entry) => [entry.hash, entry]))
  return certain.flatMap(({ task, commit }) => {
    const entry = byHash.get(commit)
    return entry ? [{ task, entry, isShared: sharers.get(commit) !== 1 }] : []
  })
}

function countBy<T, K>(items: readonly T[], keyOf: (item: T) => K): ReadonlyMap<K, number> {
  const counts = new Map<K, number>()
  for (const item of items) counts.set(keyOf(item), (counts.get(keyOf(item)) ?? 0) + 1)
  return counts
}

/** A commit that a task's field may name. */
export interface NamedCommit<T extends TaskEnd = TaskEnd> {
  readonly task: T
  readonly commit: string
  /** Its first parent; null if it has none in this clone, or if the lines have none. */
  readonly parent: string | null
}

/**
 * The commits of this history that the tasks' fields may name, newest first: one for each task, unless its digits are
 * ambiguous by now. Each line is a commit, and perhaps its parents.
 */
export function namedCommits<T extends TaskEnd>(
  tasks: readonly T[],
  lines: readonly string[],
): readonly NamedCommit<T>[] {
  const byStart = new Map<string, { readonly task: T; readonly prefix: string }[]>()
  for (const task of tasks) {
    const prefix = prefixOf(task)
    if (prefix === null) continue
    const start = prefix.slice(0, FEWEST_DIGITS)
    byStart.set(start, [...(byStart.get(start) ?? []), { task, prefix }])
  }
  return lines.flatMap((line) => {
    const meant = byStart.get(line.slice(0, FEWEST_DIGITS))?.filter(({ prefix }) => line.startsWith(prefix))
    if (!meant) return []
    const [commit = '', parent = null] = line.split(' ')
    return meant.map(({ task }) => ({ task, commit, parent }))
  })
}

const FEWEST_DIGITS = 4

function prefixOf({ commit }: TaskEnd): string | null {
  return commit !== null && /^[0-9a-f]{4,64}$/i.test(commit) ? commit.toLowerCase() : null
}
