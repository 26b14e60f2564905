import type { Git } from './git.ts'

/** What HEAD names and what is not committed, from one `git status`. */
export interface TreeStatus {
  /** Null before the first commit. */
  readonly head: string | null
  /** The branch's short name; null when HEAD is detached. */
  readonly branch: string | null
  readonly entries: readonly StatusEntry[]
  /** Folders that could not be read, so their content is unknown. */
  readonly closedFolders: readonly string[]
}

/** One path that differs from HEAD. Paths are relative to the repository's top, with forward slashes. */
export interface StatusEntry {
  readonly path: string
  readonly kind: 'added' | 'modified' | 'deleted' | 'renamed' | 'unmerged' | 'untracked'
  /** The former path of a renamed file. */
  readonly from: string | null
  /** Whether the index differs from HEAD there. */
  readonly staged: boolean
  /** Whether the file differs from the index. */
  readonly unstaged: boolean
  /** A repository inside this one: a submodule, or one that somebody created here. */
  readonly nested: boolean
  /** A submodule with changed files and no new commit: a commit here would not hold the change. */
  readonly dirtyInside?: boolean
  /** A submodule whose tracked files differ from its own commit. */
  readonly changedInside?: boolean
}

/** Reads the checkout's status, or that of some files; ignored files are left out, untracked ones are listed one by one. */
export async function readStatus(
  git: Git,
  { files = [], ...options }: { readonly signal?: AbortSignal; readonly files?: readonly string[] } = {},
): Promise<TreeStatus> {
  const args = ['status', '--porcelain=v2', '--branch', '-z', '--untracked-files=all']
  // git reads a submodule with another git process, to which this one's settings do not apply.
  const ignored = `--ignore-submodules=${git.isReading ? 'dirty' : 'none'}`
  const { stdout, stderr } = await git.run(
    [...args, ignored, '--', ...files.map((file) => `:(literal)${file}`)],
    options,
  )
  return { ...parseStatus(stdout.toString()), closedFolders: closedFolders(stderr) }
}

/** `warning: could not open directory 'build/': Permission denied`. */
function closedFolders(stderr: string): readonly string[] {
  return [...stderr.matchAll(/^warning: could not open directory '(.+?)\/?': /gm)].map(
    ([, path = '']) => path,
  )
}

/** Reads the output of `git status --porcelain=v2 --branch -z`. */
function parseStatus(output: string): Omit<TreeStatus, 'closedFolders'> {
  const records = output.split('\0')
  let head: string | null = null
  let branch: string | null = null
  const entries: StatusEntry[] = []
  for (let i = 0; i < records.length; i++) {
    const record = records[i] ?? ''
    if (record.startsWith('# branch.oid ')) head = unless(record.slice(13), '(initial)')
    else if (record.startsWith('# branch.head ')) branch = unless(record.slice(14), '(detached)')
    else if (record.startsWith('1 ')) entries.push(ordinary(record))
    else if (record.startsWith('2 ')) entries.push(renamed(record, records[++i] ?? ''))
    else if (record.startsWith('u ')) entries.push(entryOf('unmerged', rest(record, 10), record))
    else if (record.startsWith('? ')) entries.push(untracked(record.slice(2)))
  }
  return { head, branch, entries }
}

function unless(value: string, absent: string): string | null {
  return value === absent ? null : value
}

function ordinary(record: string): StatusEntry {
  const [index, tree] = [record[2], record[3]]
  const isAdded = index === 'A' || tree === 'A'
  const kind = tree === 'D' || index === 'D' ? 'deleted' : isAdded ? 'added' : 'modified'
  const entry = entryOf(kind, rest(record, 8), record)
  const dirtyInside = entry.nested && kind === 'modified' && index === '.' && record[6] !== 'C'
  const changedInside = entry.nested && record[7] === 'M'
  return {
    ...entry,
    ...(dirtyInside ? { dirtyInside } : {}),
    ...(changedInside ? { changedInside } : {}),
  }
}

function renamed(record: string, from: string): StatusEntry {
  return { ...entryOf('renamed', rest(record, 9), record), from }
}

/** git lists an untracked folder by its files, unless it is a repository. */
function untracked(path: string): StatusEntry {
  const nested = path.endsWith('/')
  return {
    kind: 'untracked',
    path: nested ? path.slice(0, -1) : path,
    from: null,
    staged: false,
    unstaged: true,
    nested,
  }
}

/** The second and third characters are the states of index and work tree, the fifth is that of a submodule. */
function entryOf(kind: StatusEntry['kind'], path: string, record: string): StatusEntry {
  return {
    kind,
    path,
    from: null,
    staged: record[2] !== '.',
    unstaged: record[3] !== '.',
    nested: record[5] === 'S',
  }
}

/** The text after that number of space-separated columns: a path may contain spaces. */
function rest(record: string, columns: number): string {
  let at = 0
  for (let i = 0; i < columns; i++) at = record.indexOf(' ', at) + 1
  return record.slice(at)
}
