import type { Git } from '../git/git.ts'
import { readLog, type LogEntry } from '../git/log.ts'
import type { Facts, TaskEnd } from '../task/model.ts'

/** What is read of a task file to tell of a completion that only it names. */
export type DoneTask = Facts<'title' | 'commit' | 'completed' | 'cost'>

/** A task and the commit of history that its file names. */
interface NamedCompletion {
  readonly task: DoneTask
  readonly entry: LogEntry
  /** Whether other tasks name that commit too: then what it says is about them as well. */
  readonly isShared: boolean
}

/** The commits among some of history that the files of these DONE tasks name; in two git processes, or none. */
export async function completionsNamed(
  git: Git,
  tasks: readonly DoneTask[],
  range: readonly string[],
): Promise<readonly NamedCompletion[]> {
  const done = tasks.filter((task) => task.status === 'DONE' && prefixOf(task) !== null)
  if (done.length === 0) return []
  const { stdout } = await git.run(['rev-list', ...range, '--'])
  const named = namedCommits(done, stdout.toString('latin1').trimEnd().split('\n'))
  // Of digits that fit several commits none is meant for certain.
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

/** A commit that a task's field may mean. */
export interface NamedCommit<T extends TaskEnd = TaskEnd> {
  readonly task: T
  readonly commit: string
  /** Its first parent; null of a commit that has none, here at least, and where the lines name none. */
  readonly parent: string | null
}

/**
 * The commits of this history that the tasks' fields may mean, newest first: one a task, unless its digits are too few by
 * now. Each line is a commit, and perhaps its parents.
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
