import { existsSync, mkdirSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { createHash } from 'node:crypto'
import { basename, dirname, join, resolve } from 'node:path'
import { writeFileAtomic } from '../base/atomic-file.ts'
import { cacheFolder } from '../base/cache-folder.ts'
import { UserError } from '../base/errors.ts'
import { nativePath, pathWithin } from '../base/paths.ts'
import { GitError, type Git } from '../git/git.ts'
import type { Base } from '../git/head.ts'
import { copyRefs } from '../git/refs.ts'
import { changeOf, differencesBetween, restoreTree } from '../git/restore.ts'
import type { Checkpoint } from './checkpoint.ts'
import {
  cloneRepository,
  isBroken,
  isNews,
  keepStrayRefs,
  keepStrayTree,
  makeClone,
  pin,
  setAside,
  settle,
  unpin,
  type Lender,
} from './clone.ts'
import { filesToCopy, furnish, preparedKey, type Furniture } from './furnish.ts'
import { assemble } from './open.ts'
import type { Change, Person, Recorder, Workspace } from './port.ts'
import { WorkspaceState } from './state.ts'
import { checkOutSubmodules } from './submodules.ts'

/** What ralph's own workspaces are made from. */
export interface OwnPlan {
  readonly lender: Lender
  /** The checkout, where records and candidates are stored. */
  readonly home: Workspace
  /** The folder of all these workspaces. */
  readonly folder: string
  readonly furniture: Furniture
  readonly env: Readonly<Record<string, string | undefined>>
  readonly checkpoint: (name: Checkpoint) => void
}

/** The folder of a checkout's workspaces: outside the checkout, because tools in it would find each file several times. */
export function workspacesFolder(
  { root, top }: { readonly root: string; readonly top: string },
  { dir, env }: { readonly dir: string | null; readonly env: Readonly<Record<string, string | undefined>> },
): string {
  const cache = cacheFolder(env)
  const parent = dir === null ? cache : nativePath(resolve(root, dir))
  if (parent === null)
    throw new UserError(
      'there is no folder of caches for workspaces',
      'Set HOME, or "workspace": { "dir": … }.',
    )
  if (pathWithin(top, parent) !== null)
    throw new UserError(
      `workspace.dir is ${parent}, inside of the repository`,
      'Name a folder outside of it: inside, tests, compilers and editors would find each file several times.',
    )
  const hash = createHash('sha256').update(nativePath(top)).digest('hex').slice(0, 8)
  return join(parent, `${basename(top)}-${hash}`)
}

/** What one run stores about a workspace for the next; in a file beside the workspace, out of the job's reach. */
interface State {
  readonly version: 1
  /** The commit that it was last brought to. */
  readonly at: string
  readonly person: Person
  /** The key that it was prepared with; null if it must be prepared again. */
  readonly prepared: string | null
}

/** One workspace of ralph's own: made once, and reused for one job at a time. */
export class OwnWorkspace {
  readonly number: number
  /** The top of its repository. */
  readonly top: string
  /** The project's root in it. */
  readonly root: string
  readonly #plan: OwnPlan
  readonly #stateFile: string
  readonly #git: Git
  #workspaceState: WorkspaceState
  #workspace: Workspace
  /** The base, if the workspace holds exactly that; null if unknown. */
  #cleanAt: string | null = null
  /** The base that this process has brought it to, if nobody else works in it. */
  #broughtTo: Base | null = null

  constructor(number: number, plan: OwnPlan) {
    this.number = number
    this.top = join(plan.folder, String(number))
    this.root = join(this.top, plan.lender.prefix)
    this.#plan = plan
    this.#stateFile = join(plan.folder, `${number}.json`)
    const { commonDir } = plan.lender.repository
    const git = plan.lender.git.at(this.top)
    // No job works in the workspace for landings, so ralph writes its objects straight into the checkout's.
    this.#git = number === 0 ? git.with({ env: { GIT_OBJECT_DIRECTORY: join(commonDir, 'objects') } }) : git
    this.#workspaceState = this.#newState()
    this.#workspace = this.#open()
  }

  /** The workspace, as last brought to a base. */
  get workspace(): Workspace {
    return this.#workspace
  }

  get git(): Git {
    return this.#git
  }

  get isThere(): boolean {
    return existsSync(join(this.top, '.git'))
  }

  /** Notes that it holds exactly a landed commit. */
  landed(commit: string): void {
    this.#cleanAt = commit
  }

  /** Notes that somebody has worked in it. */
  used(): void {
    this.#cleanAt = null
  }

  /** Notes that it holds exactly that commit, which a ref keeps. */
  keeps(commit: string): void {
    const state = this.#state()
    if (state) this.#note({ ...state, at: commit })
  }

  /** Brings it to a base, as new except for what git ignores; returns the refs that keep what was left in it. */
  async bring(base: Base): Promise<readonly string[]> {
    if (this.#cleanAt === base.head) return []
    return this.#orAside(() => this.#bring(base))
  }

  /** Does the action; if the git files are incomplete, moves them aside and does it once more. */
  async #orAside<T>(action: () => Promise<T>): Promise<T> {
    try {
      return await action()
    } catch (error) {
      if (!(error instanceof GitError) || !this.isThere || !(await isBroken(this.#git))) throw error
      setAside(this.top)
      this.#workspaceState = this.#newState()
      return action()
    }
  }

  async #bring(base: Base): Promise<readonly string[]> {
    const { lender, furniture } = this.#plan
    if (!existsSync(this.top)) this.#refuseFullDisk()
    const isNew = await makeClone(this.top, lender)
    mkdirSync(this.root, { recursive: true })
    const isLanding = this.number === 0
    const strays = isLanding ? [] : [...(await keepStrayRefs(this.#git, lender, { of: 'anybody' }))]
    if (!isLanding) await pin(this.number, base.head, lender)
    const { prefix } = lender
    const linked = furniture.link.map((path) => `/${prefix}${path.replace(/\/+$/, '')}`)
    const before = isNew ? null : this.#state()
    const left = await this.#treeLeft(before?.at ?? null)
    const excluded = [`/${prefix}.ralph/`, ...linked]
    await settle(cloneRepository(this.top, lender), base, { lender, excluded })
    if (left?.isNews) {
      const why = `ralph: left in workspace ${this.number}`
      strays.push(await keepStrayTree(this.#git, lender, { tree: left.tree, on: base.head, why }))
    }
    await this.#moveTo(base, left?.tree ?? (await this.#treeAt(before?.at ?? null)))
    const project = lender.git.at(join(lender.repository.root, prefix))
    furnish(project.cwd, this.root, { copies: await filesToCopy(project, furniture), links: furniture.link })
    this.#workspaceState = this.#newState()
    this.#workspace = this.#open()
    const person = await this.#workspace.restore.adopt(null)
    this.#note({ version: 1, at: base.head, person, prepared: before?.prepared ?? null })
    if (isLanding) this.#cleanAt = base.head
    return strays
  }

  /**
   * Does the same if only ralph has changed it since this process brought it: then nothing can be left in it, and
   * only the differences are written.
   */
  async advance(base: Base): Promise<readonly string[]> {
    const from = this.#broughtTo
    if (from === null || from.branch !== base.branch) {
      const strays = await this.bring(base)
      this.#broughtTo = base
      return strays
    }
    this.#broughtTo = null
    const { own } = this.#workspaceState
    if ((await this.#take(await own.tree(), await this.#workspaceState.treeOf(base.head))) === null)
      return this.advance(base)
    const ref = join(this.top, '.git/refs/heads', base.branch ?? '')
    mkdirSync(dirname(ref), { recursive: true })
    writeFileAtomic(ref, `${base.head}\n`)
    this.keeps(base.head)
    this.#broughtTo = base
    return []
  }

  /** Removes it, after keeping in the checkout what that does not have; returns the refs that keep it. */
  async remove(): Promise<readonly string[]> {
    return this.#orAside(() => this.#remove())
  }

  async #remove(): Promise<readonly string[]> {
    const { lender } = this.#plan
    const kept: string[] = []
    if (this.isThere) {
      if (this.number !== 0) kept.push(...(await keepStrayRefs(this.#git, lender, { of: 'anybody' })))
      const at = this.#state()?.at ?? null
      const left = await this.#treeLeft(at)
      if (left?.isNews && at !== null) {
        const why = `ralph: left in workspace ${this.number}`
        kept.push(await keepStrayTree(this.#git, lender, { tree: left.tree, on: at, why }))
      }
    }
    rmSync(this.top, { recursive: true, force: true })
    rmSync(this.#stateFile, { force: true })
    await unpin(this.number, lender)
    return kept
  }

  /**
   * Brings it from its base to a tree, writing only the differences; returns them, or null if git finds
   * something else there.
   */
  async put(base: Base, tree: string): Promise<readonly Change[] | null> {
    return this.#take(await this.#workspaceState.treeOf(base.head), tree)
  }

  async #take(from: string, to: string): Promise<readonly Change[] | null> {
    const { own } = this.#workspaceState
    const keepIn = join(this.top, '.git/ralph-set-aside', to.slice(0, 10))
    try {
      const differences = await differencesBetween(own.git, from, to)
      await restoreTree(own.git, { from, to, keepIn, differences })
      own.holds(to)
      await own.publish()
      return differences.map(changeOf)
    } catch (error) {
      if (error instanceof GitError) return null
      throw error
    }
  }

  /** Opens it as a run that died has left it; null if it is gone. */
  async reopen(): Promise<Workspace | null> {
    const state = this.#state()
    if (!state || !this.isThere) return null
    // The agent's commits become part of its attempt's record.
    await keepStrayRefs(this.#git, this.#plan.lender, { of: 'a dead run' })
    await this.#workspace.restore.adopt(state.person)
    return this.#workspace
  }

  /** Whether it was prepared for its present lock files. */
  get isPrepared(): boolean {
    const { furniture } = this.#plan
    return furniture.prepare === null || this.#state()?.prepared === preparedKey(this.root, furniture)
  }

  /** Notes whether it is prepared. */
  async prepared(isPrepared: boolean): Promise<void> {
    const state = this.#state()
    if (!state) return
    const key = isPrepared ? preparedKey(this.root, this.#plan.furniture) : null
    // Installed files are never the job's work, whatever .gitignore becomes.
    const person = isPrepared ? await this.#workspace.restore.adopt(null) : state.person
    this.#note({ ...state, person, prepared: key })
  }

  #newState(): WorkspaceState {
    const { lender } = this.#plan
    return new WorkspaceState(this.#git, cloneRepository(this.top, lender), {
      root: this.root,
      prefix: lender.prefix,
      isOwn: true,
      objects: join(lender.repository.commonDir, 'objects'),
    })
  }

  #open(): Workspace {
    const { home, lender, checkpoint } = this.#plan
    const workspace = assemble(this.#workspaceState, checkpoint)
    return { ...workspace, record: keptAtHome(workspace.record, { git: this.#git, lender, home }) }
  }

  /** The tree of its files if it differs from what it was brought to; null if it does not. */
  async #treeLeft(at: string | null): Promise<{ readonly tree: string; readonly isNews: boolean } | null> {
    const { own } = this.#workspaceState
    const isFresh = !this.#workspaceState.isAdopted
    if (isFresh) {
      rmSync(join(this.top, '.git/ralph-index'), { force: true })
      own.unlock()
      await own.git.run(['read-tree', await this.#treeAt(at)])
    }
    const { entries } = await own.status()
    const nested = entries
      .filter((entry) => entry.nested && entry.kind === 'untracked')
      .map(({ path }) => path)
    const isTaken = entries.every(({ unstaged, kind }) => !unstaged && kind !== 'untracked')
    const tree = isTaken
      ? await own.tree()
      : (await own.takeAll([...nested, ...this.#workspaceState.aside])).tree
    const from = await this.#treeAt(at)
    if (tree === from) return null
    // A tree that the dead run was bringing it to, or had kept, need not be kept again.
    const { lender } = this.#plan
    return { tree, isNews: this.number !== 0 && (await isNews(this.#git, lender, { from, tree })) }
  }

  /** The tree of a commit; the empty tree if there was none, or it does not exist any more. */
  async #treeAt(commit: string | null): Promise<string> {
    if (commit !== null) {
      try {
        return await this.#workspaceState.treeOf(commit)
      } catch (error) {
        if (!(error instanceof GitError)) throw error
        this.#workspaceState.forgetTree(commit)
      }
    }
    return (await this.#git.run(['mktree'], { stdin: '' })).stdout.toString().trim()
  }

  async #moveTo({ head }: Base, from: string): Promise<void> {
    const { own } = this.#workspaceState
    const keepIn = join(this.top, '.git/ralph-set-aside', head.slice(0, 10))
    await restoreTree(own.git, { from, to: head, keepIn })
    // What git ignored at an earlier base may not be ignored at this one.
    await own.git.run(['clean', '-ffdq'])
    own.holds(await this.#workspaceState.treeOf(head))
    await own.publish()
    await checkOutSubmodules(this.#git, this.#plan.lender)
  }

  #state(): State | null {
    try {
      const read: unknown = JSON.parse(readFileSync(this.#stateFile, 'utf8'))
      return isState(read) ? read : null
    } catch {
      return null
    }
  }

  #note(state: State): void {
    writeFileAtomic(this.#stateFile, JSON.stringify(state))
  }

  /** Refuses a full disk: it would end every job. */
  #refuseFullDisk(): void {
    mkdirSync(this.#plan.folder, { recursive: true })
    const { bavail, bsize } = statfsSync(this.#plan.folder)
    if (bavail * bsize >= LEAST_ROOM) return
    throw new UserError(
      `there is no room for a workspace in ${this.#plan.folder}: ${Math.floor((bavail * bsize) / 1e6)} MB are free`,
      'Make room, or name another folder as "workspace": { "dir": … }, or take fewer --jobs.',
    )
  }
}

const LEAST_ROOM = 100e6

function isState(read: unknown): read is State {
  if (typeof read !== 'object' || read === null || !('version' in read) || !('person' in read)) return false
  return read.version === 1 && 'at' in read && typeof read.at === 'string'
}

/** Stores records and candidates of a workspace in the checkout's repository at once. */
function keptAtHome(
  record: Recorder,
  { git, lender, home }: { readonly git: Git; readonly lender: Lender; readonly home: Workspace },
): Recorder {
  return {
    ...record,
    async keep(attempt) {
      // An earlier record of the attempt may have been made in another workspace.
      const { replaces } = attempt
      if (replaces) await git.run(['update-ref', replaces.ref, replaces.commit])
      const kept = await record.keep(attempt)
      await copyRefs(lender.git, git.cwd, [[kept.ref, kept.ref]], { force: Boolean(replaces) })
      return kept
    },
    async candidate(candidate) {
      const kept = await record.candidate(candidate)
      await copyRefs(lender.git, git.cwd, [[kept.ref, kept.ref]])
      return kept
    },
    kept: (task, number) => home.record.kept(task, number),
    candidates: () => home.record.candidates(),
    dropCandidate: (candidate) => home.record.dropCandidate(candidate),
    removeDropped: () => home.record.removeDropped(),
  }
}
