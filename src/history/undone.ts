import type { Git } from '../git/git.ts'
import { revertedBy, type LogEntry, type Reverted } from '../git/log.ts'

/** Which commits of a history are undone. */
export interface Undone {
  has(commit: string): boolean
}

/** Finds the commits that reverts among these undo. A revert that is itself undone does not count. */
export async function undoneBy(git: Git, entries: readonly LogEntry[]): Promise<Undone> {
  const reverts = entries.flatMap((entry) => revertedBy(entry).map((target) => ({ by: entry.hash, target })))
  const brought = await broughtByMerges(
    git,
    reverts.map(({ target }) => target),
  )
  const undoers = new Map<string, string[]>()
  for (const { by, target } of reverts) {
    for (const commit of brought.get(target) ?? [target.commit])
      undoers.set(commit, [...(undoers.get(commit) ?? []), by])
  }
  // git writes whole hashes, people may write short ones.
  const short = [...undoers].filter(([commit]) => commit.length < (entries[0]?.hash.length ?? 0))
  const known = new Map<string, boolean>()
  return { has }

  function has(commit: string): boolean {
    const answer = known.get(commit)
    if (answer !== undefined) return answer
    // Set first: commits may name each other, and the search must end.
    known.set(commit, false)
    const abbreviated = short.flatMap(([start, by]) => (commit.startsWith(start) ? by : []))
    const isUndone = [...(undoers.get(commit) ?? []), ...abbreviated].some((by) => !has(by))
    known.set(commit, isUndone)
    return isUndone
  }
}

/** For each reverted merge, itself and the commits that it brought; one process if there is a merge. */
async function broughtByMerges(
  git: Git,
  reverted: readonly Reverted[],
): Promise<ReadonlyMap<Reverted, readonly string[]>> {
  const merges = reverted.filter(({ onto }) => onto !== null)
  if (merges.length === 0) return new Map()
  const { stdout } = await git.run(['rev-list', '--parents', 'HEAD'])
  const lines = stdout.toString('latin1').trimEnd().split('\n')
  const parents = new Map(
    lines.map((line) => line.split(' ')).map(([commit = '', ...rest]) => [commit, rest]),
  )
  return new Map(
    merges.map((merge) => {
      const kept = ancestry(merge.onto ?? '', parents)
      return [merge, [...ancestry(merge.commit, parents)].filter((commit) => !kept.has(commit))]
    }),
  )
}

/** A commit and all its ancestors. */
function ancestry(commit: string, parents: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const found = new Set([commit])
  // Iterating over a set also visits the members added meanwhile.
  for (const one of found) for (const parent of parents.get(one) ?? []) found.add(parent)
  return found
}
