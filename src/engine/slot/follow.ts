import {
  copyFileSync,
  linkSync,
  lstatSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import { codeOf } from '../../base/errors.ts'
import { foldersAbove } from '../../base/paths.ts'
import { GitError, type Git } from '../../git/git.ts'
import { moveBranch, objectAt } from '../../git/head.ts'
import { rawChanges, type RawChange } from '../../git/raw-changes.ts'
import { isSpelledSo, keysOf } from '../../git/path-case.ts'
import { operationsUnderWay, type Repository } from '../../git/repository.ts'
import { sleep } from '../../process/sleep.ts'

/** A move of the branch, and of the checkout if it is on that branch. */
export interface Move {
  /** Null for a detached HEAD. */
  readonly branch: string | null
  readonly from: string
  readonly to: string
}

/** The result of a move. */
export type Moved =
  | { readonly kind: 'moved' }
  /** The branch has moved meanwhile: nothing has changed. */
  | { readonly kind: 'overtaken' }
  /** The person's uncommitted work is in the way: nothing has changed. */
  | { readonly kind: 'held'; readonly paths: readonly string[]; readonly reason: string }

/** A checkout that may be on the branch. */
export interface Checkout {
  /** Runs at its top. */
  readonly git: Git
  readonly repository: Repository
}

const WHY = 'ralph: a task has landed'

/** How long another git may hold the index before the landing is held. */
const PATIENCE_MS = 2000

/** The files of a checkout as they are, if they are to become those of the commit: a tree, and an index that holds it. */
export interface AsItIs {
  readonly tree: string
  readonly index: string
}

/**
 * Moves the branch, and the checkout too if it is on that branch, under the lock of its index: no other git can
 * commit, switch or stage meanwhile. Calls `note` with the move before anything changes, and with null when all has
 * changed, so that the next run can finish the move after a kill.
 */
export async function moveWithCheckout(
  checkout: Checkout,
  move: Move,
  note: (move: Move | null) => void,
  asItIs: AsItIs | null = null,
): Promise<Moved> {
  if (!isOn(checkout.repository, move.branch)) return moveAlone(checkout.git, move)
  const lock = await lockIndex(checkout.repository, asItIs?.index)
  const files = asItIs ? { ...move, from: asItIs.tree } : move
  if (lock === null) return { kind: 'held', paths: [], reason: 'another git is at work in the checkout' }
  try {
    // A person may have switched branches while this waited for the lock.
    if (!isOn(checkout.repository, move.branch)) return await moveAlone(checkout.git, move)
    const held = await whatIsInTheWay(checkout, files, lock.scratch)
    if (held) return held
    note(move)
    const moved = await moveAlone(checkout.git, move)
    if (moved.kind !== 'moved') {
      note(null)
      return moved
    }
    await followToTheEnd(checkout.git, files, lock.scratch)
    lock.publish()
    note(null)
    return moved
  } finally {
    lock.release()
  }
}

/** Finishes a move that a run noted before it died. */
export async function finishMove(checkout: Checkout, move: Move): Promise<void> {
  const { git, repository } = checkout
  releaseDeadLock(repository)
  if (!isOn(repository, move.branch) || (await objectAt(git, 'HEAD')) !== move.to) return
  const lock = await lockIndex(repository)
  if (lock === null) throw new GitError(['read-tree'], 128, 'another git holds the lock of the index')
  try {
    await takeAsMoved(git, move, lock.scratch)
    await follow(git, move, lock.scratch)
    lock.publish()
  } finally {
    lock.release()
  }
}

/** What in the person's checkout is in the way of a move, as far as it can be seen without the lock; null if nothing is. */
export async function inTheWay(checkout: Checkout, move: Move): Promise<Moved | null> {
  const { repository } = checkout
  if (!isOn(repository, move.branch)) return null
  const scratch = join(repository.gitDir, `${SCRATCH}-look`)
  rmSync(`${scratch}.lock`, { force: true })
  try {
    copyFileSync(join(repository.gitDir, 'index'), scratch)
    return await whatIsInTheWay(checkout, move, scratch)
  } finally {
    rmSync(scratch, { force: true })
    rmSync(`${scratch}.lock`, { force: true })
  }
}

function isOn({ gitDir }: Repository, branch: string | null): boolean {
  try {
    const head = readFileSync(join(gitDir, 'HEAD'), 'utf8').trim()
    return branch === null ? !head.startsWith('ref: ') : head === `ref: refs/heads/${branch}`
  } catch {
    return false
  }
}

async function moveAlone(git: Git, { branch, from, to }: Move): Promise<Moved> {
  try {
    await moveBranch(git, { branch, from, to }, WHY)
    return { kind: 'moved' }
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    const now = await objectAt(git, branch === null ? 'HEAD' : `refs/heads/${branch}`)
    if (now === from) throw error
    // A git that was killed may have moved it before.
    return { kind: now === to ? 'moved' : 'overtaken' }
  }
}

const SCRATCH = 'ralph-follow-index'
/** The second name of the lock file. */
const OWN_LOCK = 'ralph-follow-lock'

/** The lock of a checkout's index, held by this process. */
interface IndexLock {
  /** A copy of the index to work on. */
  readonly scratch: string
  /** Makes the copy the index. */
  readonly publish: () => void
  readonly release: () => void
}

async function lockIndex({ gitDir }: Repository, from?: string): Promise<IndexLock | null> {
  const [index, lock] = [join(gitDir, 'index'), join(gitDir, 'index.lock')]
  const [scratch, own] = [join(gitDir, SCRATCH), join(gitDir, OWN_LOCK)]
  for (const left of [own, scratch, `${scratch}.lock`]) rmSync(left, { force: true })
  copyFileSync(index, own)
  for (let waited = 0; ; waited += 20) {
    try {
      // Two names for one file: a later run can tell whether the lock is ralph's.
      linkSync(own, lock)
      break
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error
      if (waited >= PATIENCE_MS) return null
      await sleep(20)
    }
  }
  // Another git may have written the index while this waited for the lock.
  copyFileSync(from ?? index, scratch)
  return {
    scratch,
    publish: () => renameSync(scratch, index),
    release() {
      for (const path of [scratch, `${scratch}.lock`, lock, own]) rmSync(path, { force: true })
    },
  }
}

/** Removes the lock if a run that died left it, and no other lock. */
export function releaseDeadLock({ gitDir }: Repository): void {
  const [lock, own] = [join(gitDir, 'index.lock'), join(gitDir, OWN_LOCK)]
  const [held, left] = [lock, own].map((path) => statSync(path, { throwIfNoEntry: false }))
  if (held && left && held.ino === left.ino) rmSync(lock, { force: true })
  for (const path of [own, join(gitDir, SCRATCH), join(gitDir, `${SCRATCH}.lock`)])
    rmSync(path, { force: true })
}

/** The person's work at paths that the move writes; null if there is none. */
async function whatIsInTheWay(
  { git, repository }: Checkout,
  move: Move,
  scratch: string,
): Promise<Moved | null> {
  const [operation] = operationsUnderWay(repository)
  if (operation !== undefined)
    return { kind: 'held', paths: [], reason: `a ${operation} is under way in the checkout` }
  const door = git.with({ env: { GIT_INDEX_FILE: scratch } })
  const changes = await rawChanges(git, move.from, move.to)
  const old = await oldSpellings(git, changes)
  const going = pathsGoing(changes)
  const standing = changes.filter(
    ({ kind, path }) => kind === 'new' && !old.has(path) && isInTheWay(git.cwd, path, going),
  )
  // git does not refuse because of a file that a person has deleted: it would restore the file.
  const isMissing = ({ kind, path }: RawChange): boolean => kind !== 'new' && !isThere(join(git.cwd, path))
  const isFree = standing.length === 0 && !changes.some(isMissing)
  const tryOut = ['read-tree', '-n', '-m', '-u', move.from, move.to]
  if (isFree && (await door.run(tryOut, { okCodes: [0, 1, 128] })).code === 0) return null
  // A file with a new time and the same content is not changed.
  await door.run(['update-index', '-q', '--refresh'], { okCodes: [0, 1] })
  const all = changes.map(({ path }) => path)
  const changed = await changedOf(door, move.from, all)
  const paths = [...new Set([...changed, ...standing.map(({ path }) => path)])]
  if (paths.length > 0) return { kind: 'held', paths, reason: 'what you have there is not committed' }
  const tried = await door.run(tryOut, { okCodes: [0, 1, 128] })
  if (tried.code === 0) return null
  return { kind: 'held', paths: [], reason: tried.stderr.trim().split('\n')[0] ?? 'git refuses' }
}

/** Those of these paths whose index entry or file differs from the commit; or only their index entries. */
async function changedOf(
  door: Git,
  commit: string,
  paths: readonly string[],
  only: readonly '--cached'[] = [],
): Promise<readonly string[]> {
  const { stdout } = await door.run(['diff-index', ...only, '--name-only', '--no-renames', '-z', commit])
  const changed = new Set(stdout.toString().split('\0').filter(Boolean))
  return paths.filter((path) => changed.has(path))
}

/** Whether anything is at a path, a link that leads nowhere too; nothing is below a file. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path) !== undefined
  } catch {
    return false
  }
}

function pathsGoing(changes: readonly RawChange[]): ReadonlySet<string> {
  return new Set(changes.flatMap(({ path, kind }) => (kind === 'gone' ? [path] : [])))
}

/** Whether anything is at a path, ignored or not, or a file where the path needs a folder; but for what goes itself. */
function isInTheWay(root: string, path: string, going: ReadonlySet<string>): boolean {
  for (const folder of foldersAbove(path)) {
    const stats = lstatSync(join(root, folder), { throwIfNoEntry: false })
    if (!stats) return false
    if (!stats.isDirectory()) return !going.has(folder)
  }
  const stats = lstatSync(join(root, path), { throwIfNoEntry: false })
  if (!stats) return false
  if (!stats.isDirectory()) return !going.has(path)
  return readdirSync(join(root, path)).some((name) => isInTheWay(root, `${path}/${name}`, going))
}

/** Ctrl-C in a terminal reaches git too: this continues what git left half done. */
async function followToTheEnd(git: Git, move: Move, scratch: string): Promise<void> {
  try {
    await follow(git, move, scratch)
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    rmSync(`${scratch}.lock`, { force: true })
    await takeAsMoved(git, move, scratch)
    await follow(git, move, scratch)
  }
}

async function follow(git: Git, { from, to }: Move, scratch: string): Promise<void> {
  const door = git.with({ env: { GIT_INDEX_FILE: scratch } })
  await door.run(['read-tree', '-m', '-u', from, to])
}

/**
 * Counts files as moved if they already are as the move leaves them, or a person has changed them since; leaves them
 * as they are.
 */
async function takeAsMoved(
  git: Git,
  { from, to }: Pick<Move, 'from' | 'to'>,
  scratch: string,
): Promise<void> {
  const door = git.with({ env: { GIT_INDEX_FILE: scratch } })
  await door.run(['update-index', '-q', '--refresh'], { okCodes: [0, 1] })
  const entries = await rawChanges(git, from, to)
  await removeHalfWritten(door, { from, to }, entries)
  const changed = new Set(
    await changedOf(
      door,
      from,
      entries.map(({ path }) => path),
    ),
  )
  const old = await oldSpellings(git, entries)
  const going = pathsGoing(entries)
  // A file whose name changes only in case exists under both names: its spelling on disk shows whether it has moved.
  const hasCome = (path: string): boolean =>
    isInTheWay(git.cwd, path, going) && (!old.has(path) || isSpelledSo(git.cwd, path))
  const replaced = new Set([...old].filter(([path]) => hasCome(path)).map(([, before]) => before))
  // git takes a file away before it writes the new one: a file that is missing was on its way when git was killed.
  const isOnItsWay = ({ path, kind }: RawChange): boolean => kind !== 'gone' && !isThere(join(git.cwd, path))
  const moved = entries.filter(
    (entry) =>
      replaced.has(entry.path) ||
      (entry.kind === 'new' && hasCome(entry.path)) ||
      (changed.has(entry.path) && !isOnItsWay(entry)),
  )
  const lines = moved.map(({ path, is }) => `${is.mode} ${is.hash}\t${path}\0`)
  if (lines.length > 0) await door.run(['update-index', '-z', '--index-info'], { stdin: lines.join('') })
  await door.run(['update-index', '-q', '--refresh'], { okCodes: [0, 1] })
}

/**
 * Removes the files that git was writing when it was killed, so that it writes them anew: such a file is the beginning
 * of what is to come, and nothing in it is a person's.
 */
async function removeHalfWritten(
  door: Git,
  { from, to }: Pick<Move, 'from' | 'to'>,
  entries: readonly RawChange[],
): Promise<void> {
  const files = entries.filter(({ kind, is }) => kind !== 'gone' && is.mode.startsWith('100'))
  const staged = new Set(
    await changedOf(
      door,
      from,
      files.map(({ path }) => path),
      ['--cached'],
    ),
  )
  for (const { path } of files) {
    const at = join(door.cwd, path)
    // What is behind a link is another file.
    const isBehindLink = (): boolean =>
      [...foldersAbove(path)].some((folder) => lstatSync(join(door.cwd, folder)).isSymbolicLink())
    if (staged.has(path) || !isThere(at) || isBehindLink() || !lstatSync(at).isFile()) continue
    const { stdout: whole } = await door.run(['cat-file', '--filters', `${to}:${path}`])
    const bytes = readFileSync(at)
    if (bytes.length < whole.length && whole.subarray(0, bytes.length).equals(bytes)) rmSync(at)
  }
}

/** Files whose names change only in case, on a disk where both names are one file: from the new name to the old one. */
async function oldSpellings(git: Git, changes: readonly RawChange[]): Promise<ReadonlyMap<string, string>> {
  const paths = changes.map(({ path }) => path)
  const keyOf = await keysOf(git, paths)
  const gone = new Map(changes.filter(({ kind }) => kind === 'gone').map(({ path }) => [keyOf(path), path]))
  return new Map(
    changes.flatMap(({ path, kind }): [string, string][] => {
      const before = kind === 'new' ? gone.get(keyOf(path)) : undefined
      return before === undefined ? [] : [[path, before]]
    }),
  )
}
