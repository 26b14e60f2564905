import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { foldersAbove } from '../base/paths.ts'
import type { Git } from '../git/git.ts'
import { commitAt, looseCommit, type CommitFacts } from '../git/head.ts'
import type { Repository } from '../git/repository.ts'
import { treeOf } from '../git/tree.ts'
import { OwnIndex } from './own-index.ts'
import type { Person } from './port.ts'
import { KnownRefs } from './refs.ts'
import type { SettingsPlaces } from './settings.ts'

/** The state of one workspace that inspecting, recording and restoring share. */
export class WorkspaceState {
  readonly git: Git
  readonly own: OwnIndex
  readonly repository: Repository
  readonly root: string
  readonly prefix: string
  readonly refs: KnownRefs
  /** Files that are nobody's work: in no tree. */
  readonly aside = new Set<string>()
  /** Whether a run works here: before that, uncommitted files are seen as the person's git sees them. */
  isAdopted = false
  /** Whether it is ralph's own: then only attempts commit here, and its hooks are the checkout's. */
  readonly isOwn: boolean
  places: SettingsPlaces | null = null
  /** The folder in which a new commit is written. */
  readonly #objects: string
  /** Files whose names on disk differ from the index, and are nobody's work. */
  misspelled: ReadonlySet<string> = new Set()
  readonly #trees = new Map<string, Promise<string>>()
  #ignored: ReadonlySet<string> = new Set()
  #since = 0

  constructor(
    git: Git,
    repository: Repository,
    where: {
      readonly root: string
      readonly prefix: string
      readonly isOwn?: boolean
      /** The objects of the repository that this one borrows from. */
      readonly objects?: string
    },
  ) {
    this.isOwn = where.isOwn ?? false
    // A replacement that exists only here would be in no clone.
    this.git = git.with({ env: { GIT_NO_REPLACE_OBJECTS: '1' } })
    this.own = new OwnIndex(this.git, repository)
    this.repository = repository
    this.root = where.root
    this.prefix = where.prefix
    this.refs = new KnownRefs(this.git, repository.commonDir)
    this.#objects = where.objects ?? join(repository.commonDir, 'objects')
  }

  /** The facts that a commit is made of. */
  commitAt(commit: string): Promise<CommitFacts> {
    return commitAt(this.git, this.#objects, commit)
  }

  /** The tree of a commit, which never changes; a tree's own hash for a tree. */
  treeOf(commit: string): Promise<string> {
    const known = this.#trees.get(commit) ?? this.#readTree(commit)
    this.#trees.set(commit, known)
    return known
  }

  async #readTree(commit: string): Promise<string> {
    return looseCommit(this.#objects, commit)?.tree ?? treeOf(this.git, commit)
  }

  /** Notes the tree of a commit, which saves asking git. */
  hasTree(commit: string, tree: string): void {
    this.#trees.set(commit, Promise.resolve(tree))
  }

  /** Forgets a failed lookup, because the object may come later. */
  forgetTree(commit: string): void {
    this.#trees.delete(commit)
  }

  /** Notes the person's files: what git ignored when the run began stays nobody's work, even if git sees it later. */
  protect({ ignored, since, misspelled }: Person): void {
    this.#ignored = new Set(ignored)
    this.#since = since
    this.misspelled = new Set(misspelled)
  }

  wasIgnored(path: string): boolean {
    if (this.#ignored.has(path)) return true
    for (const folder of foldersAbove(path)) if (this.#ignored.has(`${folder}/`)) return this.#isOlder(path)
    return false
  }

  #isOlder(path: string): boolean {
    const stats = lstatSync(join(this.repository.root, path), { throwIfNoEntry: false })
    return (stats?.ctimeMs ?? Infinity) < this.#since
  }
}
