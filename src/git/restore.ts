import { chmodSync, lstatSync, mkdirSync, renameSync } from 'node:fs'
import type { Stats } from 'node:fs'
import { dirname, join } from 'node:path'
import { foldersAbove } from '../base/paths.ts'
import { GitError, type Git } from './git.ts'
import { keysOf, spellOnDisk } from './path-case.ts'

/**
 * Takes the work tree from one tree, which the index holds, to another, and touches only what differs. git itself
 * refuses if a file matches neither tree. Ignored files stay, but those in the way, which git would overwrite, are
 * first moved into a folder; their paths are returned.
 */
export async function restoreTree(
  git: Git,
  {
    from,
    to,
    keepIn,
    differences: known,
  }: {
    readonly from: string
    readonly to: string
    readonly keepIn: string
    /** The differences, if the caller knows them. */
    readonly differences?: readonly PathDifference[]
  },
): Promise<readonly string[]> {
  const differences = known ?? (await differencesBetween(git, from, to))
  for (const { path } of differences) openFolders(git.cwd, path)
  const keyOf = await keysOf(
    git,
    differences.map(({ path }) => path),
  )
  const displaced = await ignoredInTheWay(git, differences, keyOf)
  for (const path of displaced) {
    const kept = join(keepIn, path)
    mkdirSync(dirname(kept), { recursive: true })
    renameSync(join(git.cwd, path), kept)
  }
  const args = ['read-tree', '-m', '-u', from, `${to}^{tree}`]
  await git.run(args)
  const modules = differences.filter(({ to }) => to === MODULE).map(({ path }) => path)
  // `read-tree` changes only the index entry of a submodule; its files are a checkout of their own.
  if (modules.length > 0) await git.run(['submodule', 'update', '--checkout', '--no-fetch', '--', ...modules])
  // If git may not remove a file it reports that and exits with success.
  const came = new Map(differences.filter((one) => one.to !== NONE).map(({ path }) => [keyOf(path), path]))
  const gone = differences.filter((one) => one.to === NONE && one.from !== MODULE)
  for (const { path } of gone) {
    const respelled = came.get(keyOf(path))
    if (respelled !== undefined) spellOnDisk(git.cwd, respelled)
  }
  const stuck = gone.filter(({ path }) => !came.has(keyOf(path)) && isFile(git.cwd, path))
  if (stuck.length > 0)
    throw new GitError(args, 1, `it could not remove ${stuck.map(({ path }) => path).join(', ')}`)
  return displaced
}

/** Files that are not recorded and in the place of one to restore: git ignores them, or they would be recorded. */
async function ignoredInTheWay(
  git: Git,
  differences: readonly PathDifference[],
  keyOf: (path: string) => string,
): Promise<readonly string[]> {
  const recorded = new Set(differences.filter(({ from }) => from !== NONE).map(({ path }) => keyOf(path)))
  const found = new Set<string>()
  const folders: string[] = []
  for (const { path } of differences.filter(({ from, to }) => from === NONE && to !== NONE)) {
    const at = standingAt(git.cwd, path)
    if (at === null || recorded.has(keyOf(at))) continue
    if (isFile(git.cwd, at)) found.add(at)
    else folders.push(at)
  }
  if (folders.length === 0) return [...found]
  const args = ['ls-files', '--others', '--ignored', '--exclude-standard', '-z', '--', ...folders]
  const { stdout } = await git.run(args)
  const ignored = stdout.toString().split('\0').filter(Boolean)
  return [...found, ...ignored]
}

/** The path itself, or a file in place of one of its folders; null if nothing is in its way. */
function standingAt(root: string, path: string): string | null {
  for (const folder of foldersAbove(path)) {
    const stats = statOf(root, folder)
    if (stats === undefined) return null
    if (!stats.isDirectory()) return folder
  }
  return statOf(root, path) === undefined ? null : path
}

const NONE = '000000'
const MODULE = '160000'

/** A path that differs between two trees. */
export interface PathDifference {
  readonly path: string
  /** The modes before and after, as git writes them. */
  readonly from: string
  readonly to: string
}

/** Whether the path was added, deleted or changed. */
export function changeOf({ path, from, to }: PathDifference): {
  readonly path: string
  readonly kind: 'new' | 'gone' | 'changed'
} {
  return { path, kind: from === NONE ? 'new' : to === NONE ? 'gone' : 'changed' }
}

/** The paths that differ between two trees, with their modes. */
export async function differencesBetween(
  git: Git,
  tree: string,
  other: string,
): Promise<readonly PathDifference[]> {
  const { stdout } = await git.run(['diff-tree', '-r', '--raw', '--no-renames', '-z', tree, other])
  const records = stdout.toString().split('\0')
  const differences: PathDifference[] = []
  for (let i = 0; i + 1 < records.length; i += 2) {
    const [from = NONE, to = NONE] = (records[i] ?? '').slice(1).split(' ')
    differences.push({ path: records[i + 1] ?? '', from, to })
  }
  return differences
}

/** Makes folders writable that an agent may have closed; git does not store such modes. */
function openFolders(root: string, path: string): void {
  for (const folder of foldersAbove(path)) {
    const stats = statOf(root, folder)
    if (!stats?.isDirectory()) return
    if ((stats.mode & 0o300) !== 0o300) chmodSync(join(root, folder), (stats.mode & 0o777) | 0o300)
  }
}

/** Whether a file or a link is at a path; not a folder in its place. */
function isFile(root: string, path: string): boolean {
  const stats = statOf(root, path)
  return stats !== undefined && !stats.isDirectory()
}

/** The stat of a path; undefined if nothing is there. */
function statOf(root: string, path: string): Stats | undefined {
  try {
    return lstatSync(join(root, path), { throwIfNoEntry: false })
  } catch {
    // A former folder may be a file now: then there is nothing in it.
    return undefined
  }
}

/** Whether something is at the path itself, and no file in place of one of its folders. */
export function standing(root: string, path: string): boolean {
  return standingAt(root, path) === path
}
