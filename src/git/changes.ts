import type { Git } from './git.ts'

/** What a commit did to one file. A renamed file counts as one deleted and one added. */
export interface FileChange {
  /** From the top of the repository. */
  readonly path: string
  /** The blob before; null if the file was added. */
  readonly before: string | null
  /** The blob after; null if the file was deleted. */
  readonly after: string | null
}

/** A commit and its changes; those of a merge are reported with the commits that it merged. */
export interface CommitChanges {
  readonly commit: string
  readonly parents: readonly string[]
  readonly changes: readonly FileChange[]
}

/** Which commits: those that are named, or all commits of HEAD that changed a file of that pattern. */
type ChangesQuery = { readonly commits: readonly string[] } | { readonly pattern: string }

/** Reads what commits did to files, newest first, in one process. */
export async function readChanges(git: Git, query: ChangesQuery): Promise<readonly CommitChanges[]> {
  const args = [
    'log',
    '-z',
    '--format=%H %P',
    '--no-show-signature',
    '--no-color',
    '--raw',
    '--no-abbrev',
    '--no-renames',
    '--diff-merges=off',
  ]
  if ('pattern' in query) {
    const { stdout } = await git.run([...args, 'HEAD', '--', `:(top,glob)${query.pattern}`])
    return parseChanges(stdout.toString())
  }
  if (query.commits.length === 0) return []
  const stdin = `${query.commits.join('\n')}\n`
  const { stdout } = await git.run([...args, '--no-walk', '--stdin'], { stdin })
  return parseChanges(stdout.toString())
}

/** A line for the commit, then for each file a line of modes and blobs, and its path: each ends with a NUL. */
function parseChanges(output: string): readonly CommitChanges[] {
  const commits: { commit: string; parents: readonly string[]; changes: FileChange[] }[] = []
  const fields = output.split('\0')
  for (let at = 0; at < fields.length; at++) {
    const [first = '', ...rest] = fields[at]!.trim().split(' ')
    if (first.startsWith(':')) {
      const [before, after] = rest.slice(1).map((blob) => (/^0+$/.test(blob) ? null : blob))
      commits.at(-1)?.changes.push({
        path: fields[++at] ?? '',
        before: before ?? null,
        after: after ?? null,
      })
    } else if (first !== '') commits.push({ commit: first, parents: rest.filter(Boolean), changes: [] })
  }
  return commits
}
