import type { Git } from './git.ts'

/** A path that differs between two trees, with the modes and objects of both, as git writes them. */
export interface RawChange {
  readonly path: string
  readonly kind: 'new' | 'changed' | 'gone'
  readonly was: { readonly mode: string; readonly hash: string }
  readonly is: { readonly mode: string; readonly hash: string }
}

/** The mode of nothing, of a submodule and of a link. */
export const MODES = { none: '000000', submodule: '160000', link: '120000' } as const

/** The differences between two trees or commits; a rename is one path that is gone and another that is new. */
export async function rawChanges(
  git: Git,
  from: string,
  to: string,
  paths: readonly string[] = [],
): Promise<readonly RawChange[]> {
  const args = ['diff-tree', '-r', '--raw', '--no-renames', '--no-abbrev', '-z', from, to]
  const { stdout } = await git.run([...args, ...(paths.length === 0 ? [] : ['--', ...paths])])
  const fields = stdout.toString().split('\0')
  // A path may look like a record: only every other field is one.
  return fields.flatMap((field, at) =>
    at % 2 === 0 && field !== '' ? [changeIn(field, fields[at + 1]!)] : [],
  )
}

function changeIn(record: string, path: string): RawChange {
  const [before = '', mode = '', old = '', hash = ''] = record.slice(1).split(' ')
  const kind = before === MODES.none ? 'new' : mode === MODES.none ? 'gone' : 'changed'
  return { path, kind, was: { mode: before, hash: old }, is: { mode, hash } }
}

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

/** Which commits: those that are named, or all commits of HEAD that changed a file of these patterns, in any case. */
type ChangesQuery = { readonly commits: readonly string[] } | { readonly patterns: readonly string[] }

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
  if ('patterns' in query) {
    const paths = query.patterns.map((pattern) => `:(top,glob,icase)**/${pattern}`)
    const { stdout } = await git.run([...args, 'HEAD', '--', ...paths])
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
    const field = fields[at]!.trim()
    const [commit = '', ...parents] = field.split(' ')
    if (field.startsWith(':')) {
      const { path, kind, was, is } = changeIn(field, fields[++at] ?? '')
      const [before, after] = [kind === 'new' ? null : was.hash, kind === 'gone' ? null : is.hash]
      commits.at(-1)?.changes.push({ path, before, after })
    } else if (commit !== '') commits.push({ commit, parents: parents.filter(Boolean), changes: [] })
  }
  return commits
}
