import { existsSync, mkdirSync, readdirSync, rmSync, statfsSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { removeAll } from '../../base/remove.ts'
import { UserError } from '../../base/errors.ts'
import { contentsOf } from '../../git/contents.ts'
import { isAncestor, type Base } from '../../git/head.ts'
import { makePlainCommit } from '../../git/made-commit.ts'
import { mergeTrees, type Merged } from '../../git/merge.ts'
import { MODES, rawChanges, type RawChange } from '../../git/raw-changes.ts'
import { ralphPaths } from '../../base/ralph-folder.ts'
import { allIgnored } from '../../git/repository.ts'
import { slotEnvironment } from './environment.ts'
import { Folder, type Amendments } from './folder.ts'
import type { Home } from './home.ts'
import { commitBelow, commitsMadeIn, lendGit, putAside } from './lent-git.ts'
import type { Readied, Readying, RunInstall } from './ready.ts'
import { Submodules } from './submodules.ts'

/** The work since a base: a tree, and what is in no tree. */
export interface Work {
  /** The commit that it is based on. */
  readonly base: string
  readonly tree: string
  readonly changes: readonly RawChange[]
  /** Another commit that the agent worked on, from which its work was brought onto the base; null if it did not. */
  readonly from: string | null
  /** Repositories that were made inside: they are in no tree. */
  readonly nested: readonly string[]
  /** Why it cannot be committed; null if it can. */
  readonly problem: string | null
}

/** One of the two folders of a slot. */
export interface Side {
  readonly name: 'work' | 'check'
  readonly folder: Folder
  /** The project's root in it. */
  readonly root: string
}

/** How a slot installs packages, and what it says meanwhile. */
export interface Installing {
  readonly run: RunInstall
  readonly onCommand: (command: string) => void
  readonly warn: (message: string) => void
}

/** What slots are made with. */
interface SlotPlan {
  readonly home: Home
  /** The folder of all slots of this checkout. */
  readonly folder: string
  readonly readying: Readying
  readonly env: Readonly<Record<string, string | undefined>>
}

const LEAST_SPACE = 100e6
/** How many ended attempts keep the repository that their agent had. */
const MOST_KEPT = 2

/**
 * Where one job at a time is done: a work folder for the agent, and a clean room for gates, hooks and landing, in which
 * no agent works. It is outside of the checkout, made once, and used again.
 */
export class Slot {
  readonly number: number
  /** All that belongs to the slot. */
  readonly path: string
  /** For signals, notes and temporary files of an attempt: the only other folder that its agent may write. */
  readonly attemptFolder: string
  /** For the hooks that run in the clean room. */
  readonly hooks: string
  readonly work: Side
  readonly check: Side
  readonly #plan: SlotPlan
  readonly #submodules: Record<Side['name'], Submodules>
  #isOpen = false
  #refs: readonly string[] = []
  #branch: string | null = null
  /** The tree that the clean room holds, if nothing has run there since. */
  #clean: string | null = null

  constructor(number: number, plan: SlotPlan) {
    this.number = number
    this.#plan = plan
    this.path = join(plan.folder, String(number))
    this.attemptFolder = join(this.path, 'attempt')
    this.hooks = join(this.path, 'hooks')
    this.work = this.#side('work')
    this.check = this.#side('check')
    this.#submodules = { work: this.#modules(this.work), check: this.#modules(this.check) }
  }

  #side(name: Side['name']): Side {
    const { home } = this.#plan
    const files = join(this.path, name, basename(home.repository.root))
    const folder = new Folder(
      { git: home.git, commonDir: home.repository.commonDir, settings: home.settings },
      { files, own: join(this.path, `${name}.git`) },
    )
    return { name, folder, root: join(files, home.prefix) }
  }

  #modules({ name, folder }: Side): Submodules {
    return new Submodules(this.#plan.home, folder, join(this.path, `${name}-modules`))
  }

  get isThere(): boolean {
    return this.work.folder.isThere
  }

  /** The environment of what is started on one side. */
  env({ name, folder, root }: Side): Readonly<Record<string, string | undefined>> {
    const checkout = this.#plan.home.repository.root
    return slotEnvironment(this.#plan.env, {
      checkout,
      files: folder.files,
      root,
      number: this.number,
      side: name,
    })
  }

  /** Makes the folders where they are missing; refuses a disk that is full, which would end every job. */
  open(): void {
    if (this.#isOpen) return
    const { folder } = this.#plan
    mkdirSync(folder, { recursive: true })
    const { bavail, bsize } = statfsSync(folder)
    if (!this.isThere && bavail * bsize < LEAST_SPACE)
      throw new UserError(
        `there is too little space for a slot in ${folder}: ${Math.floor((bavail * bsize) / 1e6)} MB are free`,
        'Free some, or name another folder as "workspace": { "dir": … }, or run fewer --jobs.',
      )
    for (const { folder: side, root } of [this.work, this.check]) {
      side.open()
      mkdirSync(root, { recursive: true })
    }
    mkdirSync(this.attemptFolder, { recursive: true })
    this.#isOpen = true
  }

  /**
   * Brings the work folder to a tree, ready for an agent; without `installing` only its files. Returns why that is not
   * possible, or null.
   */
  async bringWork(tree: string, installing: Installing | null): Promise<string | null> {
    this.open()
    const kept = await this.#bringClean(this.work, tree)
    await this.#submodules.work.bring(tree, kept)
    return installing && this.#makeReady(this.work, installing)
  }

  /** Brings a folder to a tree, with nothing else in it but what is kept; returns the paths of that. */
  async #bringClean({ folder, root }: Side, tree: string): Promise<readonly string[]> {
    const { readying } = this.#plan
    const before = await readying.kept(root)
    // Attributes that nobody tracks would decide which bytes git writes.
    await folder.clean('ignored', before)
    await folder.bring(tree)
    mkdirSync(root, { recursive: true })
    const kept = await readying.kept(root)
    // With another lock file, other folders are those of packages.
    if (before.some((path) => !kept.includes(path))) await folder.clean('ignored', kept)
    return kept
  }

  /** Gives the agent a repository of its own. That of an earlier attempt is kept for a while, under its name. */
  async lendGit(base: Base, attempt: string): Promise<void> {
    const { home } = this.#plan
    const args = [
      'for-each-ref',
      '--format=%(objectname) %(refname)',
      'refs/heads',
      'refs/tags',
      'refs/remotes',
    ]
    this.#refs = (await home.git.run(args)).stdout.toString().split('\n')
    removeAll(this.attemptFolder)
    mkdirSync(this.attemptFolder, { recursive: true })
    putAside(this.work.folder.files, this.keptGit(attempt))
    this.#branch = base.branch
    this.#lend(this.work, base)
  }

  /** Where the repository of the attempt before this one is kept. */
  keptGit(attempt: string): string {
    return join(this.path, 'kept', `before-${attempt}.git`)
  }

  #lend({ folder }: Side, { branch, head }: Base): void {
    const { home } = this.#plan
    const { commonDir } = home.repository
    lendGit(folder.files, {
      branch,
      commit: head,
      refs: this.#refs,
      objects: join(commonDir, 'objects'),
      settings: home.shown,
      index: folder.index,
      shallow: join(commonDir, 'shallow'),
    })
  }

  /** The commits that an agent made of its own: they are in no history, and its repository is kept for a while. */
  commitsOfAgent(): readonly string[] {
    return commitsMadeIn(this.work.folder.files)
  }

  /** Removes the repositories of ended attempts, but for the last few. */
  forgetGits(most = MOST_KEPT): void {
    const folder = join(this.path, 'kept')
    if (!existsSync(folder)) return
    const kept = readdirSync(folder).map((name) => join(folder, name))
    const byAge = kept.toSorted((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs)
    for (const path of byAge.slice(most)) removeAll(path)
  }

  /** The work in the work folder, when the agent and all that it started have ended. */
  async take(base: string): Promise<Work> {
    const { folder, root } = this.work
    const modules = this.#submodules.work
    const except = [
      ...(await this.#plan.readying.paths(root)),
      ...ralphPaths(this.#plan.home.prefix),
      ...modules.paths,
    ]
    const removed = await folder.removeRepositories()
    const { tree, nested, problem } = await folder.snapshot(except)
    const inside = await modules.changes()
    const found = await rawChanges(folder.git, base, tree)
    const made = found.filter(({ kind, is }) => kind !== 'gone' && is.mode === MODES.submodule)
    const strange = new Map(made.map(({ path, kind, was }) => [path, kind === 'new' ? null : was]))
    const amended: Amendments = new Map([...strange, ...inside.moved])
    const taken = amended.size === 0 ? tree : await folder.amend(amended)
    const onto = await this.#ontoBase(taken, base)
    const changes = onto.tree === tree ? found : await rawChanges(folder.git, base, onto.tree)
    return {
      base,
      tree: onto.tree,
      from: onto.from,
      changes,
      nested: [...new Set([...removed, ...nested, ...strange.keys()])],
      problem: problem ?? inside.problem ?? onto.problem ?? (await this.#linkProblem(changes)),
    }
  }

  /** An agent may have gone back behind its base, or to another branch: only what it changed there is its work. */
  async #ontoBase(
    tree: string,
    base: string,
  ): Promise<{ readonly tree: string; readonly from: string | null; readonly problem: string | null }> {
    const { git } = this.#plan.home
    const { folder } = this.work
    const refs = [...this.#refs, `${base} refs/heads/${this.#branch}`]
    const isKnown = async (commit: string): Promise<boolean> =>
      commit === base || (await git.run(['cat-file', '-e', commit], { okCodes: [0, 1, 128] })).code === 0
    const from = await commitBelow(folder.files, refs, isKnown)
    if (from === null || from === base || !(await this.#hasLost(tree, from, base)))
      return { tree, from: null, problem: null }
    const merged = await this.#replayed(tree, { from, base })
    if (merged.kind === 'conflict') {
      const problem = `it was done on ${from.slice(0, 10)}, and conflicts with its base: ${merged.paths.join(', ')}`
      return { tree, from, problem }
    }
    await folder.bring(merged.tree)
    return { tree: merged.tree, from, problem: null }
  }

  /** What a tree changes of one commit, on another one: as if that were the commit below both. */
  async #replayed(tree: string, { from, base }: { from: string; base: string }): Promise<Merged> {
    const { git } = this.#plan.home
    const made = (of: string, parents: readonly string[]): Promise<string> =>
      makePlainCommit(git, { tree: of, parents, message: 'ralph: on another base' })
    const isAhead = await isAncestor(git, base, from)
    const below = await made(`${isAhead ? base : from}^{tree}`, [])
    return mergeTrees(git, await made(`${base}^{tree}`, [below]), await made(tree, [below]))
  }

  /** Whether a tree is as another commit in paths that the base has changed since. */
  async #hasLost(tree: string, from: string, base: string): Promise<boolean> {
    const { git } = this.#plan.home
    const own = new Set((await rawChanges(git, from, tree)).map(({ path }) => path))
    return (await rawChanges(git, from, base)).some(({ path }) => !own.has(path))
  }

  /** Why links in the work would not lead anywhere in a clone; null if all do. */
  async #linkProblem(changes: readonly RawChange[]): Promise<string | null> {
    const links = changes.filter(({ is }) => is.mode === MODES.link)
    const targets = await contentsOf(
      this.work.folder.git,
      links.map(({ is }) => is.hash),
    )
    const leaving = links.filter(({ path, is }) => leaves(path, targets.get(is.hash)?.toString() ?? ''))
    if (leaving.length === 0) return null
    const names = leaving.map(({ path }) => path).join(', ')
    return `${names} is a link that leads out of the repository, so a clone would not have what it names`
  }

  /** Brings only the files of a tree to the clean room: to be read, not to be run. */
  async bringFiles(tree: string): Promise<void> {
    this.open()
    if (this.#clean === tree) return
    await this.check.folder.bring(tree)
    mkdirSync(this.check.root, { recursive: true })
    this.#clean = null
  }

  /**
   * Brings the clean room to a tree, with nothing in it but what readying puts there. Returns why that is not possible,
   * or null. `commit` is what those who ask git there see as HEAD.
   */
  async bringCheck(tree: string, at: Base, installing: Installing): Promise<string | null> {
    this.open()
    if (this.#clean !== tree) {
      const kept = await this.#bringClean(this.check, tree)
      await this.#submodules.check.bring(tree, kept)
    }
    this.#clean = null
    const problem = await this.#makeReady(this.check, installing)
    if (problem === null) this.#clean = tree
    this.#lend(this.check, at)
    return problem
  }

  /** Notes that something has run in the clean room. */
  checkWasUsed(): void {
    this.#clean = null
  }

  /** The tree of the files in the clean room that git knows: what gates or hooks changed in them is in it. */
  async takeCheck(): Promise<string> {
    const { folder } = this.check
    if ((await folder.changed()).length === 0) return folder.amend(new Map())
    return (await folder.snapshot(this.#submodules.check.paths, { tracked: true })).tree
  }

  /** The same, with the files that a hook has added to the commit: those that are in the index of the lent repository. */
  async takeHooked(): Promise<string> {
    const { folder } = this.check
    const tree = await this.takeCheck()
    const index = join(folder.files, '.git/index')
    const [staged, known] = await Promise.all([
      folder.git.run(['ls-files', '-z'], { env: { GIT_INDEX_FILE: index }, okCodes: [0, 128] }),
      folder.git.run(['ls-files', '-z']),
    ])
    const before = new Set(known.stdout.toString().split('\0'))
    const added = staged.stdout
      .toString()
      .split('\0')
      .filter((path) => path !== '' && !before.has(path))
    return added.length === 0 ? tree : folder.add(added)
  }

  /** Installs the packages of the clean room anew where something has changed them since. */
  async renewPackages(installing: Installing): Promise<string | null> {
    const { readying } = this.#plan
    if (!(await readying.isTouched(this.check.root, this.#stampOf(this.check)))) return null
    rmSync(this.#stampOf(this.check), { force: true })
    return this.#makeReady(this.check, installing)
  }

  async #makeReady(side: Side, { run, onCommand, warn }: Installing): Promise<string | null> {
    const { readying } = this.#plan
    const { root, folder } = side
    const key = readying.keyFor(root)
    const stamp = this.#stampOf(side)
    if (!readying.isWhole(folder.files, stamp, key) || (await readying.isTouched(root, stamp))) {
      rmSync(stamp, { force: true })
      const { problem, warnings }: Readied = await readying.install(root, run, onCommand)
      for (const warning of warnings) warn(warning)
      if (problem !== null) return problem
      readying.stamp(stamp, key, await allIgnored(folder.git))
    }
    await readying.placeNamed(root)
    return null
  }

  #stampOf({ name }: Side): string {
    return join(this.path, `${name}.ready`)
  }

  /** Throws the whole slot away. */
  remove(): void {
    removeAll(this.path)
    this.#isOpen = false
    this.#clean = null
    for (const { folder } of [this.work, this.check]) folder.forget()
  }

  /** Throws the clean room away: after a kill nobody knows what is in it. */
  removeCheck(): void {
    const { folder } = this.check
    folder.forget()
    this.#clean = null
  }
}

/** Whether a link's target is absolute, or above the top of the repository. */
function leaves(path: string, target: string): boolean {
  if (target.startsWith('/')) return true
  let depth = path.split('/').length - 1
  for (const part of target.split('/')) {
    if (part === '..') depth--
    else if (part !== '.' && part !== '') depth++
    if (depth < 0) return true
  }
  return false
}
