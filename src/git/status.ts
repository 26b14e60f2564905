import type { Git } from './git.ts'

/** What HEAD names and what is not committed, as one `git status` tells it. */
export interface Status {
  /** Null before the first commit. */
  readonly head: string | null
  /** The branch's short name; null when HEAD is detached. */
  readonly branch: string | null
  readonly entries: readonly StatusEntry[]
}

/** One path that differs from HEAD. Paths are relative to the repository's top, with forward slashes. */
export interface StatusEntry {
  readonly path: string
  readonly kind: 'added' | 'modified' | 'deleted' | 'renamed' | 'unmerged' | 'untracked'
  /** Where a renamed path came from. */
  readonly from: string | null
  /** A repository inside this one: a submodule, or one that somebody made here. */
  readonly nested: boolean
  /** A submodule in which files have changed, and no commit: nothing that a commit here would hold. */
  readonly dirtyInside?: boolean
}

/** Looks at the checkout once; ignored files are left out, untracked ones are listed one by one. */
export async function readStatus(git: Git, options: { readonly signal?: AbortSignal } = {}): Promise<Status> {
  const { stdout } = await git.run(
    ['status', '--porcelain=v2', '--branch', '-z', '--untracked-files=all', '--ignore-submodules=none'],
    options,
  )
  return parseStatus(stdout.toString())
}

/** Reads the output of `git status --porcelain=v2 --branch -z`. */
function parseStatus(output: string): Status {
  const records = output.split('\0')
  let head: string | null = null
  let branch: string | null = null
  const entries: StatusEntry[] = []
  for (let i = 0; i < records.length; i++) {
    const record = records[i] ?? ''
    if (record.startsWith('# branch.oid ')) head = given(record.slice(13), '(initial)')
    else if (record.startsWith('# branch.head ')) branch = given(record.slice(14), '(detached)')
    else if (record.startsWith('1 ')) entries.push(ordinary(record))
    else if (record.startsWith('2 ')) entries.push(renamed(record, records[++i] ?? ''))
    else if (record.startsWith('u ')) entries.push(entryOf('unmerged', rest(record, 10)))
    else if (record.startsWith('? ')) entries.push(untracked(record.slice(2)))
  }
  return { head, branch, entries }
}

function given(value: string, absent: string): string | null {
  return value === absent ? null : value
}

function ordinary(record: string): StatusEntry {
  const [index, tree] = [record[2], record[3]]
  const isAdded = index === 'A' || tree === 'A'
  const kind = tree === 'D' || index === 'D' ? 'deleted' : isAdded ? 'added' : 'modified'
  const entry = { ...entryOf(kind, rest(record, 8)), nested: record[5] === 'S' }
  const dirtyInside = entry.nested && kind === 'modified' && index === '.' && record[6] !== 'C'
  return dirtyInside ? { ...entry, dirtyInside } : entry
}

function renamed(record: string, from: string): StatusEntry {
  return { ...entryOf('renamed', rest(record, 9)), from, nested: record[5] === 'S' }
}

/** git lists an untracked folder by its files, unless it is a repository of its own. */
function untracked(path: string): StatusEntry {
  const nested = path.endsWith('/')
  return { ...entryOf('untracked', nested ? path.slice(0, -1) : path), nested }
}

function entryOf(kind: StatusEntry['kind'], path: string): StatusEntry {
  return { kind, path, from: null, nested: false }
}

/** What follows the given number of space-separated columns: a path may hold spaces itself. */
function rest(record: string, columns: number): string {
  let at = 0
  for (let i = 0; i < columns; i++) at = record.indexOf(' ', at) + 1
  return record.slice(at)
}
