import { deepFolder } from '../base/folder.ts'
import type { Git } from './git.ts'

/** The tree of a commit. */
export async function treeOf(git: Git, commit: string): Promise<string> {
  return (await git.run(['rev-parse', '--verify', `${commit}^{tree}`])).stdout.toString().trim()
}

/** What a tree holds at these paths of files and folders; missing paths are left out. */
export async function heldAt(git: Git, tree: string, paths: readonly string[]): Promise<readonly string[]> {
  const { stdout } = await git.run(['ls-tree', '--name-only', '-z', tree, '--', ...paths])
  return stdout.toString().split('\0').filter(Boolean)
}

/** What a tree has at a path. */
export interface TreeEntry {
  readonly mode: string
  /** A blob, a tree, or the commit of a submodule. */
  readonly hash: string
  readonly path: string
}

/** The entries that `git ls-tree` lists with these arguments. */
export async function entriesIn(git: Git, args: readonly string[]): Promise<readonly TreeEntry[]> {
  const { stdout } = await git.run(['ls-tree', '-z', ...args])
  return stdout
    .toString()
    .split('\0')
    .flatMap((record) => {
      const [, mode, hash, path] = /^(\d+) \w+ ([0-9a-f]+)\t(.+)$/s.exec(record) ?? []
      return mode === undefined ? [] : [{ mode, hash: hash!, path: path! }]
    })
}

/** The files of a tree: those directly in a folder, all below it for `docs/**`, or with null all below the door's folder. */
export async function filesIn(git: Git, tree: string, folder: string | null): Promise<readonly TreeEntry[]> {
  const deep = folder === null ? '.' : deepFolder(folder)
  const within = deep === null ? [] : ['-r']
  const top = deep ?? folder
  const paths = top === '' || top === '.' ? [] : [`${top}/`]
  const entries = await entriesIn(git, [...within, tree, '--', ...paths])
  return entries.filter(({ mode }) => mode.startsWith('100'))
}

/** The text of a file in a commit; null if it is not there. */
export async function textIn(git: Git, commit: string, path: string): Promise<string | null> {
  const { code, stdout } = await git.run(['cat-file', 'blob', `${commit}:${path}`], { okCodes: [0, 128] })
  return code === 0 ? stdout.toString() : null
}
