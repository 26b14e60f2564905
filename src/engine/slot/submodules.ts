import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Git } from '../../git/git.ts'
import { objectAt } from '../../git/head.ts'
import { MODES } from '../../git/raw-changes.ts'
import { entriesIn } from '../../git/tree.ts'
import { effectiveSettings, withoutHooks } from '../../git/settings.ts'
import { Folder, type Amendments } from './folder.ts'
import type { Home } from './home.ts'
import { headIn, lendGit } from './lent-git.ts'

/** A submodule of a tree, in a folder of a slot. */
interface Submodule {
  readonly path: string
  readonly folder: Folder
  /** The commit that the tree names. */
  readonly commit: string
  /** Runs in the checkout's own copy of the submodule. */
  readonly home: Git
}

/** What an agent did in submodules. */
interface SubmoduleChanges {
  /** Submodules that are at another commit now, which their remote has. */
  readonly moved: Amendments
  /** Why the work cannot be committed; null if it can. */
  readonly problem: string | null
}

/** The submodules in a folder of a slot: those that the checkout has, from the checkout's own copies. */
export class Submodules {
  readonly #home: Home
  readonly #top: Folder
  /** Beside the folder, out of every agent's reach. */
  readonly #beside: string
  #known: readonly Submodule[] = []

  constructor(home: Home, top: Folder, beside: string) {
    this.#home = home
    this.#top = top
    this.#beside = beside
  }

  get paths(): readonly string[] {
    return this.#known.map(({ path }) => path)
  }

  /** Brings them to the commits that a tree names, each with a repository to ask; files at `kept` stay. */
  async bring(tree: string, kept: readonly string[]): Promise<void> {
    this.#known = existsSync(join(this.#home.repository.root, '.gitmodules')) ? await this.#find(tree) : []
    for (const { path, folder, commit, home } of this.#known) {
      const dir = await gitDirOf(home)
      const inside = kept.filter((one) => one.startsWith(`${path}/`))
      folder.open()
      await folder.bring(`${commit}^{tree}`)
      await folder.clean(
        'ignored',
        inside.map((one) => one.slice(path.length + 1)),
      )
      lendGit(folder.files, {
        branch: null,
        commit,
        refs: [],
        objects: join(dir, 'objects'),
        settings: this.#home.shown,
        index: folder.index,
        shallow: join(dir, 'shallow'),
      })
    }
  }

  async #find(tree: string): Promise<readonly Submodule[]> {
    const { git, repository } = this.#home
    const entries = await entriesIn(this.#top.git, ['-r', tree])
    const links = entries.filter(({ mode }) => mode === MODES.submodule)
    const found: Submodule[] = []
    for (const { hash: commit, path } of links) {
      const own = join(repository.root, path)
      if (!existsSync(join(own, '.git'))) continue
      const home = withoutHooks(git.at(own))
      const commonDir = await gitDirOf(home)
      const settings = (await effectiveSettings(home)).filter(([key]) => TAKEN.test(key))
      const name = createHash('sha256').update(path).digest('hex').slice(0, 12)
      const folder = new Folder(
        { git, commonDir, settings },
        { files: join(this.#top.files, path), own: join(this.#beside, `${name}.git`) },
      )
      found.push({ path, folder, commit, home })
    }
    return found
  }

  /** Looks at what an agent did in them. A commit that only this machine has is refused: a clone would not find it. */
  async changes(): Promise<SubmoduleChanges> {
    const moved = new Map<string, { readonly mode: string; readonly hash: string }>()
    const lost: string[] = []
    for (const { path, folder, commit, home } of this.#known) {
      if (!existsSync(folder.files)) continue
      const { tree } = await folder.snapshot([])
      if (tree === (await objectAt(home, `${commit}^{tree}`))) continue
      const head = headIn(join(folder.files, '.git'))
      if (head !== null && (await objectAt(home, `${head}^{tree}`)) === tree && (await isPushed(home, head)))
        moved.set(path, { mode: '160000', hash: head })
      else lost.push(path)
    }
    if (lost.length === 0) return { moved, problem: null }
    const problem = `what has changed in the submodule ${lost.join(', ')} would be in no clone: push it there first, or take it back`
    return { moved, problem }
  }
}

const TAKEN = /^(?:core\.(?:autocrlf|eol)|extensions\.objectformat|core\.repositoryformatversion)$/

async function gitDirOf(git: Git): Promise<string> {
  return (await git.run(['rev-parse', '--absolute-git-dir'])).stdout.toString().trim()
}

/** Whether a remote-tracking branch of the checkout's copy has the commit. */
async function isPushed(git: Git, commit: string): Promise<boolean> {
  const args = ['for-each-ref', '--count=1', '--contains', commit, 'refs/remotes']
  return (await git.run(args, { okCodes: [0, 128, 129] })).stdout.length > 0
}
