import { chmodSync, existsSync, lstatSync, readFileSync, realpathSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { foldersAbove } from '../base/folders-above.ts'
import { attemptRef, keepAttempt } from '../git/attempts.ts'
import { commit } from '../git/commit.ts'
import type { Git } from '../git/git.ts'
import { readLog } from '../git/history.ts'
import { changeRefs, listRefs, refsStamp } from '../git/refs.ts'
import { trailerValue } from '../git/trailers.ts'
import {
  allIgnored,
  identityProblem,
  ignoredPaths,
  operationsUnderWay,
  quitOperation,
  signingProblem,
} from '../git/repository.ts'
import type { Repository } from '../git/repository.ts'
import {
  changedPaths,
  changesBetween,
  foldHead,
  headMove,
  broughtSince,
  isAncestor,
  mergeBase,
  putBack,
  restorePaths,
} from '../git/restore.ts'
import type { Base } from '../git/restore.ts'
import { snapshot } from '../git/snapshot.ts'
import { readStatus } from '../git/status.ts'
import type { Status, StatusEntry } from '../git/status.ts'
import type { Change, Obstacle, Work, Workspace } from './workspace.ts'

const WHY = 'ralph: back to where the attempt began'

/** The checkout as a workspace: `git` runs at the repository's top, the project may lie below it. */
export function openCheckout(git: Git, repository: Repository, root: string): Workspace {
  const inside = relative(realpathSync(repository.root), realpathSync(root)).split(sep).join('/')
  const prefix = inside === '' ? '' : `${inside}/`
  const aside = new Set<string>()
  let wasIgnored = (_path: string): boolean => false
  return {
    root,
    prefix,
    look: () => look(git, aside),
    leaveAside(paths) {
      for (const path of paths) aside.add(path)
    },
    ignoredNow: () => allIgnored(git),
    protect({ ignored, since }) {
      const known = new Set(ignored)
      wasIgnored = (path) =>
        known.has(path) || (isWithin(path, known) && isOlder(join(repository.root, path), since))
    },
    obstacles: (dir) => obstacles(git, repository, `${prefix}${dir}`),
    ignored: (paths) => ignoredPaths(git, paths),
    async inspect(base) {
      const work = await inspect(git, repository, { base, aside })
      const isOwn = (path: string): boolean =>
        path.startsWith(`${prefix}.ralph/`) || path.startsWith('.ralph/')
      const exposed = work.changes.flatMap(({ path, kind }) =>
        kind === 'new' && (isOwn(path) || wasIgnored(path)) ? [path] : [],
      )
      if (exposed.length === 0) return work
      for (const path of exposed) aside.add(path)
      return { ...(await inspect(git, repository, { base, aside })), exposed }
    },
    snapshot: (work) => snapshot(git, repository, { except: work.aside }),
    async keep({ replaces, ...attempt }) {
      const agentCommits = attempt.work.head?.commits ?? []
      const parents = [attempt.base.head, ...agentCommits, ...(replaces ? [replaces.commit] : [])]
      const { task, number, tree, message } = attempt
      const kept = await keepAttempt(git, {
        task,
        number,
        tree,
        message,
        parents,
        replaces: replaces?.commit ?? null,
      })
      return { ref: attemptRef(task, number), commit: kept, tree }
    },
    async fold(base, work) {
      for (const operation of work.operations) await quitOperation(git, operation)
      if (work.head) await foldHead(git, base, WHY)
    },
    lostByGoingBack: (base, work, tree) => lostByGoingBack(git, base, work, tree),
    restoreFiles: (base, paths) => restorePaths(git, base.head, paths),
    async putBack(base, recorded, work) {
      // Beside the log, in a folder that git does not see.
      const asideIn = freeFolder(join(root, '.ralph', 'set-aside'))
      const back = await putBack(git, { recorded, base: base.head, except: work.aside, asideIn })
      if (back.kind === 'unrecorded') return null
      return back.displaced.length === 0 ? [] : [{ folder: relative(root, asideIn), paths: back.displaced }]
    },
    async keptAttempt(task, number) {
      const ref = attemptRef(task, number)
      const { stdout } = await git.run(['for-each-ref', '--format=%(objectname) %(tree)', '--', ref])
      const [found, tree] = stdout.toString().trim().split(' ')
      return found && tree ? { ref, commit: found, tree } : null
    },
    async tasksOf(range) {
      const entries = await readLog(git, { revisions: [range] })
      return entries.flatMap(({ trailers }) => trailerValue(trailers, 'Task') ?? [])
    },
    async headMovedAt() {
      const { stdout } = await git.run([
        'log',
        '--walk-reflogs',
        '--max-count=1',
        '--format=%gd',
        '--date=unix',
        'HEAD',
      ])
      const seconds = /@\{(\d+)\}/.exec(stdout.toString())?.[1]
      return seconds === undefined ? null : new Date(Number(seconds) * 1000)
    },
    refs: () => listRefs(git),
    refsStamp: () => refsStamp(repository.commonDir),
    changeRefs: (change) => changeRefs(git, change),
    async treeOf(commit) {
      return (await git.run(['rev-parse', '--verify', `${commit}^{tree}`])).stdout.toString().trim()
    },
    async baseText(base, path) {
      const { code, stdout } = await git.run(['cat-file', 'blob', `${base.head}:${path}`], {
        okCodes: [0, 128],
      })
      return code === 0 ? stdout.toString() : null
    },
    changedSince: (recorded, now) => changedPaths(git, recorded, now),
    isAncestor: (ancestor, of) => isAncestor(git, ancestor, of),
    async commit(request) {
      const result = await commit(git, request)
      // What stays staged would be taken for the agent's, and go into whatever the person commits next.
      if (result.kind !== 'committed') await git.run(['reset', '--quiet'], { okCodes: [0, 1, 128] })
      return result
    },
  }
}

async function obstacles(git: Git, repository: Repository, folder: string): Promise<readonly Obstacle[]> {
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
      fix: 'Tell it with git config user.name and git config user.email',
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
  return found
}

/** The first number that is no folder there yet. */
function freeFolder(parent: string): string {
  let number = 1
  while (existsSync(join(parent, String(number)))) number++
  return join(parent, String(number))
}

/** Whether one of the folders, which end with a slash, holds the path. */
function isWithin(path: string, folders: ReadonlySet<string>): boolean {
  for (const folder of foldersAbove(path)) if (folders.has(`${folder}/`)) return true
  return false
}

function isOlder(path: string, than: number): boolean {
  return (lstatSync(path, { throwIfNoEntry: false })?.ctimeMs ?? Infinity) < than
}

async function look(git: Git, aside: ReadonlySet<string>): Promise<Status> {
  const status = await readStatus(git)
  const entries = status.entries.filter(({ path }) => !aside.has(path))
  return {
    ...status,
    entries: entries.map((entry) => (isStray(git, entry) ? { ...entry, kind: 'untracked' } : entry)),
  }
}

/** A repository that somebody has added as if it were a submodule: no clone would find what is in it. */
function isStray({ cwd }: Git, { path, kind, nested }: StatusEntry): boolean {
  if (!nested || kind !== 'added') return false
  const modules = join(cwd, '.gitmodules')
  return !existsSync(modules) || !readFileSync(modules, 'utf8').includes(`path = ${path}\n`)
}

async function inspect(
  git: Git,
  repository: Repository,
  { base, aside }: { readonly base: Base; readonly aside: ReadonlySet<string> },
): Promise<Work> {
  const status = await look(git, aside)
  for (const { path, kind } of status.entries) if (kind !== 'deleted') openFile(join(repository.root, path))
  const head = await headMove(git, base, status)
  const nested = status.entries
    .filter((entry) => entry.nested && entry.kind === 'untracked')
    .map(({ path }) => path)
  const left = { nested, exposed: [], aside: [...nested, ...aside] }
  const operations = operationsUnderWay(repository)
  if (!head) return { changes: changesOf(status), head, operations, ...left }
  // Where HEAD has moved, its status says nothing of the base: the whole tree is compared.
  const tree = await snapshot(git, repository, { except: left.aside })
  return { changes: await changesBetween(git, base.head, tree), head, operations, ...left }
}

/** An agent may have left files that nobody may read, and git could not take in; it keeps no such modes. */
function openFile(path: string): void {
  try {
    const stats = lstatSync(path)
    if (stats.isFile() && (stats.mode & 0o400) === 0) chmodSync(path, (stats.mode & 0o777) | 0o600)
  } catch {
    // Gone, or somebody else's: git says what it makes of it.
  }
}

async function lostByGoingBack(git: Git, base: Base, work: Work, tree: string): Promise<readonly string[]> {
  const at = work.head?.at
  if (!at || at === base.head || (await isAncestor(git, base.head, at))) return []
  const touched = new Set(await changedPaths(git, at, tree))
  // What its own commits brought since the two went apart, as an amended one does, is its work.
  const own = new Set(await broughtSince(git, await mergeBase(git, base.head, at), at))
  return (await changedPaths(git, at, base.head)).filter((path) => !touched.has(path) && !own.has(path))
}

/** What a status means for somebody who began from a clean tree. */
export function changesOf(status: Status): readonly Change[] {
  return status.entries
    .filter((entry) => !(entry.nested && entry.kind === 'untracked') && !entry.dirtyInside)
    .flatMap(changesOfEntry)
}

function changesOfEntry({ path, kind, from }: StatusEntry): readonly Change[] {
  switch (kind) {
    case 'untracked':
    case 'added':
      return [{ path, kind: 'new' }]
    case 'deleted':
      return [{ path, kind: 'gone' }]
    case 'renamed':
      return [...(from === null ? [] : [{ path: from, kind: 'gone' } as const]), { path, kind: 'new' }]
    case 'modified':
    case 'unmerged':
      return [{ path, kind: 'changed' }]
  }
}
