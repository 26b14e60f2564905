import { chmodSync, existsSync, lstatSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { UserError } from '../base/errors.ts'
import { foldersAbove, pathWithin } from '../base/paths.ts'
import { isRalphEntry } from '../base/ralph-folder.ts'
import type { Git } from '../git/git.ts'
import { ATTEMPT_ADDRESS, commitsOnTop, isAncestor, tipOf, type Base } from '../git/head.ts'
import { readLog } from '../git/log.ts'
import { respelledFiles } from '../git/path-case.ts'
import {
  identityProblem,
  ignoredPaths,
  operationsUnderWay,
  pathSpelling,
  signingProblem,
} from '../git/repository.ts'
import { standing } from '../git/restore.ts'
import { mergeTrees } from '../git/merge.ts'
import { readStatus, type TreeStatus, type StatusEntry } from '../git/status.ts'
import { trailerValue } from '../git/trailers.ts'
import { changedPaths, changesBetween, heldAt, textIn } from '../git/tree.ts'
import type { Change, HeadMove, Inspect, Obstacle, Work } from './port.ts'
import type { WorkspaceState } from './state.ts'

/** The parts of a workspace that only read it. */
export function openInspect(state: WorkspaceState): Inspect {
  const { git, own, root, prefix } = state
  const inside = (path: string): string => `${prefix}${path}`
  return {
    obstacles: (dir) => obstacles(state, inside(dir)),
    status: () => statusOf(state),
    work: (base, leaving = []) => workSince(state, base, leaving),
    hooksFolder: () => state.places?.hooksInTree ?? null,
    text: (path) => textAt(join(root, path)),
    baseText: (base, path) => textIn(git, base.head, inside(path)),
    textIn: (base, path) => textIn(git, base.head, path),
    missingFrom: (tree, paths) => missingFrom(state, tree, paths),
    leftOut: (work, paths) => leftOut(state, work, paths),
    treeOf: (commit) => state.treeOf(commit),
    changes: (from, to) => changesBetween(git, from, to),
    differing: (from, to) => changedPaths(git, from, to),
    async isStoredAsBefore(base, path) {
      const [stored, now] = [
        await blobAt(state, base, inside(path)),
        await git.run(['hash-object', '--', inside(path)]),
      ]
      return stored === now.stdout.toString().trim()
    },
    isAncestor: (ancestor, of) => isAncestor(git, ancestor, of),
    async merge(base, candidate) {
      if (candidate.base === base.head) return { kind: 'merged', tree: candidate.tree }
      if (!(await isAncestor(git, candidate.base, base.head)))
        return { kind: 'conflict', paths: ['the branch was moved to another history'], hunks: '' }
      return mergeTrees(git, base.head, candidate.commit)
    },
    async parentOf(commit) {
      return (await state.commitAt(commit)).parents[0] ?? null
    },
    async commitOf(task, range) {
      const entries = await readLog(git, { revisions: [range] })
      const own = entries.find(({ trailers, committer }) => {
        const isLanding =
          trailerValue(trailers, 'Gates') !== null || trailerValue(trailers, 'Blocked') !== null
        return isLanding && committer !== ATTEMPT_ADDRESS && trailerValue(trailers, 'Task') === task
      })
      return own?.hash ?? null
    },
    async headMovedAt() {
      const args = ['log', '--walk-reflogs', '--max-count=1', '--format=%gd', '--date=unix', 'HEAD']
      const seconds = /@\{(\d+)\}/.exec((await git.run(args)).stdout.toString())?.[1]
      return seconds === undefined ? null : new Date(Number(seconds) * 1000)
    },
  }

  async function statusOf({ aside }: WorkspaceState): Promise<TreeStatus> {
    // Takes no lock, so that a kill leaves none.
    const status = state.isAdopted
      ? await own.status()
      : await readStatus(git.with({ env: { GIT_OPTIONAL_LOCKS: '0' } }))
    const entries = status.entries.filter(({ path }) => !aside.has(path))
    return {
      ...status,
      entries: entries.map((entry) => (isStray(state, entry) ? { ...entry, kind: 'untracked' } : entry)),
    }
  }
}

async function obstacles({ git, repository }: WorkspaceState, folder: string): Promise<readonly Obstacle[]> {
  const found: Obstacle[] = []
  for (const operation of operationsUnderWay(repository))
    found.push({
      message: `a ${operation} is under way`,
      fix: `Finish it, or end it with git ${operation} --abort`,
    })
  const lock = join(repository.gitDir, 'index.lock')
  if (existsSync(lock))
    found.push({
      message: 'another git process is at work here, or one has crashed and left its lock',
      fix: `If no git is running, remove ${lock}`,
    })
  const identity = await identityProblem(git)
  if (identity !== null)
    found.push({
      message: `git does not know who commits: ${identity.split('\n').at(-1) ?? ''}`,
      fix: 'Set git config user.name and git config user.email',
    })
  const unsigned = identity === null ? await signingProblem(git) : null
  if (unsigned !== null)
    found.push({
      message: `git is to sign commits, and cannot: ${unsigned}`,
      fix: 'Mend the key (user.signingKey), or set commit.gpgSign to false here',
    })
  if ((await ignoredPaths(git, [`${folder}/T-1.md`])).size > 0)
    found.push({
      message: `git ignores the task folder ${folder}, so no commit could hold a task`,
      fix: 'Take it out of .gitignore (git check-ignore -v names the line)',
    })
  const otherwise = [...(await respelledFiles(git, await pathSpelling(git)))]
  const misspelled = otherwise.find(([path]) => path.startsWith(`${folder}/`))
  if (misspelled)
    found.push({
      message: `${misspelled[0]} is ${misspelled[1]} to git, so no commit would hold what changes in it`,
      fix: `Rename it for git too: git mv ${misspelled[1]} ${misspelled[0]}, and commit that`,
    })
  return found
}

/** Whether it is a repository that somebody added without .gitmodules: a clone would not find what is in it. */
function isStray({ repository }: WorkspaceState, { path, kind, nested }: StatusEntry): boolean {
  if (!nested || kind !== 'added') return false
  const modules = join(repository.root, '.gitmodules')
  return !existsSync(modules) || !readFileSync(modules, 'utf8').includes(`path = ${path}\n`)
}

/** All work since the base, without files that are nobody's work. */
async function workSince(state: WorkspaceState, start: Base, leaving: readonly string[]): Promise<Work> {
  const { own, aside, prefix } = state
  await own.ensure(start.head)
  const work = await workNow(state, start, leaving)
  const folders = [`${prefix}.ralph/`, '.ralph/']
  const isOwn = (path: string): boolean =>
    folders.some((folder) => path.startsWith(folder) && isRalphEntry(path.slice(folder.length)))
  const noLongerIgnored = work.changes.flatMap(({ path, kind }) =>
    kind === 'new' && (isOwn(path) || state.wasIgnored(path)) ? [path] : [],
  )
  if (noLongerIgnored.length === 0) return work
  for (const path of noLongerIgnored) aside.add(path)
  // The index already holds the unrelated files: start it again without them.
  await own.hold(start.head)
  return { ...(await workNow(state, start, leaving)), noLongerIgnored }
}

async function workNow(state: WorkspaceState, start: Base, leaving: readonly string[]): Promise<Work> {
  const { git, own, aside, repository } = state
  let status = await openedStatus(state)
  if (await respell(state)) status = await openedStatus(state)
  const { base, persons, below } = await baseUnder(state, start, status)
  const nested = status.entries
    .filter((entry) => entry.nested && (entry.kind === 'untracked' || isStray(state, entry)))
    .map(({ path }) => path)
  // What a person has committed is not left out any more.
  if (status.head === base.head) for (const { path, staged } of status.entries) if (staged) aside.delete(path)
  const except = new Set([...nested, ...aside, ...leaving])
  const isChanged = status.entries.some(
    ({ path, unstaged, dirtyInside }) => unstaged && !dirtyInside && !except.has(path),
  )
  const taken = isChanged ? await own.takeAll([...except]) : { tree: await own.tree(), refused: null }
  const isFollowed = await followIndex(state, except)
  const tree = isFollowed ? await own.tree() : taken.tree
  const isAsBase = tree === (await state.treeOf(base.head))
  // If the index held the base before, git's status of the files is the whole difference.
  const isFresh = status.head === base.head && !isFollowed && !status.entries.some(({ staged }) => staged)
  return {
    base,
    persons,
    below,
    tree,
    refused: taken.refused,
    changes: isAsBase ? [] : isFresh ? changesOf(status, except) : await changesBetween(git, base.head, tree),
    head: await headMove(state, base, status),
    operations: operationsUnderWay(repository),
    nested,
    changedInside: status.entries.flatMap(({ path, changedInside }) => (changedInside ? [path] : [])),
    noLongerIgnored: [],
  }
}

/** Adds files whose names differ from the index only in case; returns whether there were any. */
async function respell({ own, aside, misspelled }: WorkspaceState): Promise<boolean> {
  const found = [...(await own.respelled())]
  const names = new Map(found.filter(([path]) => !misspelled.has(path) && !aside.has(path)))
  if (names.size > 0) await own.respell(names)
  return names.size > 0
}

function changesOf({ entries }: TreeStatus, except: ReadonlySet<string>): readonly Change[] {
  const own = entries.filter(({ path, dirtyInside }) => !dirtyInside && !except.has(path))
  const changes = own.map(({ path, kind }): Change => {
    return { path, kind: kind === 'untracked' ? 'new' : kind === 'deleted' ? 'gone' : 'changed' }
  })
  return changes.toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

/** Adds and leaves out ignored files as the person's index does; returns whether there were any. */
async function followIndex(
  { own, repository }: WorkspaceState,
  except: ReadonlySet<string>,
): Promise<boolean> {
  const { added, removed } = await own.differences()
  const present = added.filter((path) => !except.has(path) && standing(repository.root, path))
  const forced = present.filter((path) => !lstatSync(join(repository.root, path)).isDirectory())
  if (forced.length > 0) await own.take(forced)
  if (removed.length > 0) await own.forget(removed)
  return forced.length + removed.length > 0
}

/** The status, after opening files and folders that nobody may read: git could not add them, and does not record such modes. */
async function openedStatus(state: Pick<WorkspaceState, 'own' | 'repository'>): Promise<TreeStatus> {
  const { own, repository } = state
  const status = await own.status()
  const files = status.entries.filter(({ kind, unstaged }) => unstaged && kind !== 'deleted')
  for (const { path } of files) open(join(repository.root, path), 0o400, 0o600)
  if (status.closedFolders.length === 0) return status
  for (const path of status.closedFolders) open(join(repository.root, path), 0o500, 0o700)
  const again = await own.status()
  if (again.closedFolders.length > 0) throw closedFolders(again.closedFolders)
  return openedStatus(state)
}

/** Nobody can read these folders, so nobody knows what an attempt did in them. */
function closedFolders(paths: readonly string[]): UserError {
  return new UserError(
    `nobody may read ${paths.join(', ')}, so what is in it could be in no commit`,
    'Give yourself the right to read it, or remove it: the next ralph run goes on from here.',
  )
}

function open(path: string, needed: number, added: number): void {
  try {
    const stats = lstatSync(path)
    const isOpen = (stats.mode & needed) === needed
    if ((stats.isFile() || stats.isDirectory()) && !isOpen) chmodSync(path, (stats.mode & 0o777) | added)
  } catch {
    // It is gone or another user's: git reports what it finds.
  }
}

/**
 * The commit below the work: a commit without an attempt's mark is a person's, and the work lands on top of it. If there are
 * several, the newest.
 */
async function baseUnder(
  { git, refs, isOwn }: WorkspaceState,
  start: Base,
  status: TreeStatus,
): Promise<Pick<Work, 'base' | 'persons' | 'below'>> {
  const none = { base: start, persons: [], below: [] }
  if (isOwn) return none
  const tip = await tipNow(git, start, status)
  if (tip === null || tip === start.head) return none
  const commits = await commitsOnTop(git, { from: start.head, to: tip, known: refs.begun })
  const newest = commits?.findIndex(({ isAttempts }) => !isAttempts) ?? -1
  if (!commits || newest < 0) return none
  const base = { ...start, head: commits[newest]!.hash }
  const [persons, others] = [commits.filter(({ isAttempts }) => !isAttempts), commits.slice(newest)]
  const pathsOf = async (some: typeof commits): Promise<Set<string>> => {
    const paths = new Set<string>()
    for (const { hash, parents } of some)
      for (const path of await changedPaths(git, parents[0] ?? start.head, hash)) paths.add(path)
    return paths
  }
  const attempts = others.filter(({ isAttempts }) => isAttempts)
  const theirs = attempts.length === 0 ? new Set<string>() : await pathsOf(persons)
  const below = [...(await pathsOf(attempts))].filter((path) => !theirs.has(path))
  return { base, persons: persons.map(({ hash }) => hash), below }
}

/** The branch's commit now; starts a process only if HEAD is elsewhere. */
async function tipNow(git: Git, base: Base, status: TreeStatus): Promise<string | null> {
  if (status.branch === base.branch) return status.head
  if (base.branch === null) return null
  return tipOf(git, base.branch)
}

/** Compares HEAD and the branch with the base; starts a process only if something has moved. */
async function headMove(state: WorkspaceState, base: Base, now: TreeStatus): Promise<HeadMove | null> {
  const switched = now.branch !== base.branch
  if (!switched && now.head === base.head) return null
  const commits: string[] = []
  const tip = base.branch === null ? null : await tipNow(state.git, base, now)
  for (const commit of new Set([now.head, tip]))
    if (commit !== null && !(await isAncestor(state.git, commit, base.head))) commits.push(commit)
  return { switched, at: now.head, tip, commits }
}

async function blobAt({ git }: WorkspaceState, base: Base, path: string): Promise<string> {
  const { stdout } = await git.run(['rev-parse', `${base.head}:${path}`], { okCodes: [0, 128] })
  return stdout.toString().trim()
}

function textAt(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}

/**
 * The paths that do not exist. An empty folder, or one that git does not see, counts as missing; a single ignored
 * file does not.
 */
async function missingFrom(
  { git, root, prefix }: WorkspaceState,
  tree: string,
  paths: readonly string[],
): Promise<readonly string[]> {
  if (paths.length === 0) return []
  const present = paths.filter((path) => isInside(root, join(root, path)))
  const folders = present.filter((path) => lstatSync(join(root, path)).isDirectory())
  const wanted = folders.map((path) => `${prefix}${path}`.replace(/\/+$|\/?\.$/g, '')).filter(Boolean)
  const held = new Set(wanted.length === 0 ? [] : await heldAt(git, tree, wanted))
  return paths.filter((path) => {
    if (!present.includes(path)) return true
    const name = `${prefix}${path}`.replace(/\/+$|\/?\.$/g, '')
    return folders.includes(path) && name !== '' && !held.has(name)
  })
}

function isInside(root: string, path: string): boolean {
  return existsSync(path) && pathWithin(realpathSync(root), realpathSync(path)) !== null
}

async function leftOut(
  { git, prefix, aside }: WorkspaceState,
  work: Work,
  paths: readonly string[],
): Promise<readonly string[]> {
  const changed = new Set(work.changes.map(({ path }) => path))
  const unseen = paths.filter((path) => !changed.has(`${prefix}${path}`))
  if (unseen.length === 0) return []
  const ignored = await ignoredPaths(
    git,
    unseen.map((path) => `${prefix}${path}`),
  )
  const away = new Set([...work.nested, ...aside])
  return unseen.filter((path) => {
    const full = `${prefix}${path}`
    return ignored.has(full) || away.has(full) || [...foldersAbove(full)].some((above) => away.has(above))
  })
}
