import { chmodSync, lstatSync, mkdirSync, renameSync } from 'node:fs'
import type { Stats } from 'node:fs'
import { dirname, join } from 'node:path'
import { foldersAbove } from '../base/folders-above.ts'
import { stage } from './commit.ts'
import { GitError } from './git.ts'
import type { Git } from './git.ts'
import { writeTree } from './snapshot.ts'
import type { Status } from './status.ts'

/** Where HEAD stood when an attempt began. */
export interface Base {
  readonly head: string
  /** The branch's short name; null for a detached HEAD. */
  readonly branch: string | null
}

/** What somebody did to HEAD and the branch since; the commits are those that the base does not hold. */
export interface HeadMove {
  readonly switched: boolean
  /** Where HEAD is now; null where it is on a branch without a commit. */
  readonly at: string | null
  /** Where HEAD, and the branch that we were on, point now, where that is not the base. */
  readonly commits: readonly string[]
  readonly branchTip: string | null
}

/** Compares HEAD and the branch with the base; costs a process only where something has moved. */
export async function headMove(git: Git, base: Base, now: Status): Promise<HeadMove | null> {
  const switched = now.branch !== base.branch
  if (!switched && now.head === base.head) return null
  const branchTip = switched && base.branch !== null ? await tipOf(git, base.branch) : now.head
  const commits: string[] = []
  for (const commit of new Set([now.head, branchTip]))
    if (commit !== null && !(await isAncestor(git, commit, base.head))) commits.push(commit)
  return { switched, at: now.head, commits, branchTip }
}

/** Puts HEAD and the branch back to the base; the work tree and the index stay as they are. */
export async function foldHead(git: Git, base: Base, why: string): Promise<void> {
  if (base.branch === null) {
    await git.run(['update-ref', '--no-deref', '-m', why, 'HEAD', base.head])
    return
  }
  const ref = `refs/heads/${base.branch}`
  await git.run(['symbolic-ref', '-m', why, 'HEAD', ref])
  await git.run(['update-ref', '-m', why, ref, base.head])
}

export type PutBack =
  /** `displaced` are the ignored files that stood where the base has others. */
  | { readonly kind: 'done'; readonly displaced: readonly string[] }
  /** What is in the work tree is not what was recorded: somebody wrote meanwhile, and nothing was moved. */
  | { readonly kind: 'unrecorded' }

/**
 * Takes the work tree from a recorded tree to the base's, touching only what differs between the two. git itself
 * refuses where a file is neither. Ignored files stay where they are; those that stand in the way, which git would write
 * over, go into a folder first.
 */
export async function putBack(
  git: Git,
  move: {
    readonly recorded: string
    readonly base: string
    readonly except?: readonly string[]
    readonly asideIn: string
  },
): Promise<PutBack> {
  await stage(git, move)
  const present = await writeTree(git)
  if (present !== move.recorded) return { kind: 'unrecorded' }
  const moves = await movesBetween(git, present, move.base)
  for (const { path } of moves) openFolders(git.cwd, path)
  const displaced = await ignoredInTheWay(git, moves)
  for (const path of displaced) {
    const kept = join(move.asideIn, path)
    mkdirSync(dirname(kept), { recursive: true })
    renameSync(join(git.cwd, path), kept)
  }
  const args = ['read-tree', '-m', '-u', present, `${move.base}^{tree}`]
  await git.run(args)
  const modules = moves.filter(({ to }) => to === MODULE).map(({ path }) => path)
  // `read-tree` moves only what the index says of a submodule; its files are a checkout of their own.
  if (modules.length > 0) await git.run(['submodule', 'update', '--checkout', '--no-fetch', '--', ...modules])
  // Where it may not remove a file it says so, and calls that a success.
  const stuck = moves.filter((one) => one.to === NONE && one.from !== MODULE && isFile(git.cwd, one.path))
  if (stuck.length > 0)
    throw new GitError(args, 1, `it could not remove ${stuck.map(({ path }) => path).join(', ')}`)
  return { kind: 'done', displaced }
}

/** What stands where nothing is recorded and a file is to be: git ignores it, or it would be recorded. */
async function ignoredInTheWay(git: Git, moves: readonly Move[]): Promise<readonly string[]> {
  const recorded = new Set(moves.filter(({ from }) => from !== NONE).map(({ path }) => path))
  const found = new Set<string>()
  const folders: string[] = []
  for (const { path } of moves.filter(({ from, to }) => from === NONE && to !== NONE)) {
    const at = standingAt(git.cwd, path)
    if (at === null || recorded.has(at)) continue
    if (isFile(git.cwd, at)) found.add(at)
    else folders.push(at)
  }
  if (folders.length === 0) return [...found]
  const args = ['ls-files', '--others', '--ignored', '--exclude-standard', '-z', '--', ...folders]
  const { stdout } = await git.run(args)
  const ignored = stdout.toString().split('\0').filter(Boolean)
  return [...found, ...ignored]
}

/** The path, or the file that stands where one of its folders is to be; null where nothing is in its way. */
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

interface Move {
  readonly path: string
  /** The modes before and after, as git writes them. */
  readonly from: string
  readonly to: string
}

async function movesBetween(git: Git, tree: string, other: string): Promise<readonly Move[]> {
  const { stdout } = await git.run(['diff-tree', '-r', '--raw', '--no-renames', '-z', tree, other])
  const records = stdout.toString().split('\0')
  const moves: Move[] = []
  for (let i = 0; i + 1 < records.length; i += 2) {
    const [from = NONE, to = NONE] = (records[i] ?? '').slice(1).split(' ')
    moves.push({ path: records[i + 1] ?? '', from, to })
  }
  return moves
}

/** An agent may have left folders that nobody may write to; git keeps no such modes. */
function openFolders(root: string, path: string): void {
  for (const folder of foldersAbove(path)) {
    const stats = statOf(root, folder)
    if (!stats?.isDirectory()) return
    if ((stats.mode & 0o300) !== 0o300) chmodSync(join(root, folder), (stats.mode & 0o777) | 0o300)
  }
}

/** Whether a file, or a link, stands at a path; a folder may have taken its place. */
function isFile(root: string, path: string): boolean {
  const stats = statOf(root, path)
  return stats !== undefined && !stats.isDirectory()
}

/** What stands at a path; undefined where nothing does. */
function statOf(root: string, path: string): Stats | undefined {
  try {
    return lstatSync(join(root, path), { throwIfNoEntry: false })
  } catch {
    // What was a folder is a file now: then nothing is in it.
    return undefined
  }
}

/** Gives single paths the content that they have in a commit, and removes those that it does not have. */
export async function restorePaths(git: Git, commit: string, paths: readonly string[]): Promise<void> {
  if (paths.length === 0) return
  // What git does not know it does not take away.
  const present = paths.filter((path) => standingAt(git.cwd, path) === path)
  if (present.length > 0) await stage(git, { paths: present, force: true })
  await git.run(
    [
      'restore',
      `--source=${commit}`,
      '--staged',
      '--worktree',
      '--pathspec-from-file=-',
      '--pathspec-file-nul',
    ],
    { stdin: paths.map((path) => `:(literal)${path}`).join('\0') },
  )
}

/** The paths that differ between two trees or commits. */
export async function changedPaths(git: Git, from: string, to: string): Promise<readonly string[]> {
  const { stdout } = await git.run(['diff-tree', '-r', '--name-only', '--no-renames', '-z', from, to])
  return stdout.toString().split('\0').filter(Boolean)
}

/** The same, each with what happened to it; a rename is a path that went and one that came. */
export async function changesBetween(
  git: Git,
  from: string,
  to: string,
): Promise<readonly { readonly path: string; readonly kind: 'new' | 'changed' | 'gone' }[]> {
  const { stdout } = await git.run(['diff-tree', '-r', '--name-status', '--no-renames', '-z', from, to])
  const records = stdout.toString().split('\0')
  const changes = []
  for (let i = 0; i + 1 < records.length; i += 2) {
    const kind = records[i] === 'A' ? 'new' : records[i] === 'D' ? 'gone' : 'changed'
    changes.push({ path: records[i + 1] ?? '', kind } as const)
  }
  return changes
}

/** Whether one commit can be reached from another. */
export async function isAncestor(git: Git, ancestor: string, of: string): Promise<boolean> {
  return (await git.run(['merge-base', '--is-ancestor', ancestor, of], { okCodes: [0, 1] })).code === 0
}

/** Where two commits went apart; null where they have nothing in common. */
export async function mergeBase(git: Git, one: string, other: string): Promise<string | null> {
  const { code, stdout } = await git.run(['merge-base', one, other], { okCodes: [0, 1] })
  return code === 0 ? stdout.toString().trim() : null
}

/** The paths that a commit has otherwise than an earlier one; all that it has, where there is no earlier one. */
export async function broughtSince(
  git: Git,
  earlier: string | null,
  commit: string,
): Promise<readonly string[]> {
  if (earlier !== null) return changedPaths(git, earlier, commit)
  const { stdout } = await git.run(['ls-tree', '-r', '--name-only', '-z', commit])
  return stdout.toString().split('\0').filter(Boolean)
}

async function tipOf(git: Git, branch: string): Promise<string | null> {
  const { code, stdout } = await git.run(['rev-parse', '--verify', '--quiet', `refs/heads/${branch}`], {
    okCodes: [0, 1],
  })
  return code === 0 ? stdout.toString().trim() : null
}
