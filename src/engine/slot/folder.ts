import { cpSync, existsSync, mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { foldersAbove } from '../../base/paths.ts'
import { removeAll } from '../../base/remove.ts'
import { GitError, type Git } from '../../git/git.ts'
import { rawChanges } from '../../git/raw-changes.ts'
import { settingsText, type Settings } from '../../git/settings.ts'
import { runProgram } from '../../process/run.ts'

/** The repository whose objects a folder shares. */
interface Store {
  /** Any door to git; the folder sets its own directory, work tree and index. */
  readonly git: Git
  readonly commonDir: string
  readonly settings: Settings
}

/** What a tree gets at a path; null to take the path out of it. */
export type Amendments = ReadonlyMap<string, { readonly mode: string; readonly hash: string } | null>

/** The tree of a folder, and what could not be in it. */
export interface Snapshot {
  readonly tree: string
  /** Repositories without a commit, which git cannot take. */
  readonly nested: readonly string[]
  /** Why git could not take all of it; null if it could. */
  readonly problem: string | null
}

/**
 * A folder of files, with a repository and an index of ralph's own beside it. git never uses a repository inside of the
 * folder, which an agent may have written.
 */
export class Folder {
  /** The top of its files. */
  readonly files: string
  readonly git: Git
  readonly #store: Store
  readonly #own: string
  readonly #index: string
  /** The tree that the index holds; null if that is not known yet. */
  #tree: string | null = null
  #folders: { readonly tree: string | null; readonly paths: readonly string[] } = { tree: null, paths: [] }

  /** `own` is the path of its repository; the index is beside that. */
  constructor(store: Store, { files, own }: { files: string; own: string }) {
    this.files = files
    this.#store = store
    this.#own = own
    this.#index = own.replace(/\.git$/, '.index')
    this.git = store.git.at(dirname(own)).with({
      env: {
        GIT_DIR: own,
        GIT_WORK_TREE: files,
        GIT_INDEX_FILE: this.#index,
        GIT_OBJECT_DIRECTORY: join(store.commonDir, 'objects'),
        GIT_NO_REPLACE_OBJECTS: '1',
        ...NO_OTHER_SETTINGS,
      },
    })
  }

  get isThere(): boolean {
    return existsSync(this.#own)
  }

  get index(): string {
    return this.#index
  }

  /** Makes the folder and its repository, with the checkout's settings and rules as they are now. */
  open(): void {
    const { commonDir, settings } = this.#store
    for (const made of [this.files, join(this.#own, 'refs'), join(this.#own, 'info')])
      mkdirSync(made, { recursive: true })
    writeFileSync(join(this.#own, 'config'), settingsText([...settings, ...fileSystemSettings(this.#own)]))
    writeFileSync(join(this.#own, 'HEAD'), 'ref: refs/heads/none\n')
    for (const file of ['info/exclude', 'info/attributes', 'shallow']) {
      rmSync(join(this.#own, file), { force: true })
      if (existsSync(join(commonDir, file))) cpSync(join(commonDir, file), join(this.#own, file))
    }
    rmSync(`${this.#index}.lock`, { force: true })
  }

  /** Brings the files to a tree. Everything goes that the index knows and the tree does not have. */
  async bring(tree: string): Promise<void> {
    try {
      await this.#read(tree)
    } catch (error) {
      if (!(error instanceof GitError)) throw error
      // The index may be from before a kill, or name objects that are gone; an agent may have closed folders.
      await this.#openAll()
      this.forget()
      await this.clean('untracked', [])
      await this.#read(tree)
    }
    this.#tree = tree
  }

  async #read(tree: string): Promise<void> {
    const before = await this.#held()
    if (before !== null && before !== tree && (await this.#hasOtherAttributes(before, tree))) {
      // Once for what goes, and once more for all that stays.
      await this.git.run(['read-tree', '--reset', '-u', tree])
      this.forget()
    }
    const { stderr } = await this.git.run(['read-tree', '--reset', '-u', tree])
    // git goes on where it cannot remove a file of a folder that an agent has closed.
    if (!/^warning: unable to (?:unlink|rmdir)/m.test(stderr)) return
    await this.#openAll()
    await this.git.run(['read-tree', '--reset', before ?? tree])
    await this.git.run(['read-tree', '--reset', '-u', tree])
  }

  /** Attributes decide what bytes a file has on disk: if they differ, git must write unchanged files again too. */
  async #hasOtherAttributes(before: string, tree: string): Promise<boolean> {
    return (await rawChanges(this.git, before, tree, ['*.gitattributes'])).length > 0
  }

  /** The tree that the index holds; null without an index. */
  async #held(): Promise<string | null> {
    if (this.#tree !== null || !existsSync(this.#index)) return this.#tree
    return this.#writeTree()
  }

  /** Makes the index anew, as if the files were those of a tree. */
  async know(tree: string): Promise<void> {
    this.forget()
    await this.git.run(['read-tree', '--reset', tree])
  }

  /** Forgets what the folder holds: the next time all of it is written. */
  forget(): void {
    for (const path of [this.#index, `${this.#index}.lock`]) rmSync(path, { force: true })
    this.#tree = null
  }

  /** Removes files that are in no tree, except at these paths; with `ignored` also what git ignores. */
  async clean(what: 'untracked' | 'ignored', except: readonly string[]): Promise<void> {
    const kept = except.flatMap((path) => ['-e', `/${path}`])
    const args = ['clean', what === 'ignored' ? '-ffdxq' : '-ffdq', ...kept]
    if ((await this.git.run(args, { okCodes: [0, 1, 128] })).code !== 0) {
      await this.#openAll()
      // The index may be broken: without one all files go, and are written again.
      this.forget()
      await this.git.run(args)
    }
    await this.removeRepositories()
  }

  /** Removes repositories in folders of tracked files, which git neither cleans nor looks into; returns the folders. */
  async removeRepositories(): Promise<readonly string[]> {
    const top = realpathSync(this.files)
    // Not behind a link, which an agent may have made: that is elsewhere.
    const found = (await this.#trackedFolders())
      .map((path) => join(top, path))
      .filter((at) => existsSync(join(at, '.git')) && realpathSync(at) === at)
    for (const at of found) removeAll(join(at, '.git'))
    return found.map((at) => at.slice(top.length + 1))
  }

  /** The folders of the files in the index: asked once for each tree. */
  async #trackedFolders(): Promise<readonly string[]> {
    if (this.#tree === null || this.#folders.tree !== this.#tree) {
      const { stdout } = await this.git.run(['ls-files', '-z'])
      const paths = new Set<string>()
      for (const path of stdout.toString().split('\0'))
        for (const folder of foldersAbove(path)) paths.add(folder)
      this.#folders = { tree: this.#tree, paths: [...paths] }
    }
    return this.#folders.paths
  }

  /** The tree of the files as they are, without what is at the paths `except`; or only of the files in the index. */
  async snapshot(
    except: readonly string[],
    { tracked = false }: { tracked?: boolean } = {},
  ): Promise<Snapshot> {
    const isKnown = this.#tree !== null && this.#folders.tree === this.#tree
    const nested = new Set<string>()
    let [isOpened, problem]: [boolean, string | null] = [false, null]
    for (;;) {
      const failure = await this.#add([...except, ...nested], tracked)
      if (failure === null) break
      const found = /^error: '(.+?)\/?' does not have a commit checked out/m.exec(failure)?.[1]
      if (found !== undefined && !nested.has(found)) nested.add(found)
      else if (/Permission denied/.test(failure) && !isOpened) {
        await this.#openAll()
        isOpened = true
      } else {
        problem = failure
        await this.#add([...except, ...nested], tracked, ['--ignore-errors'])
        break
      }
    }
    const tree = await this.#writeTree()
    // What was added is in no folder with a repository: git takes nothing of such a folder.
    if (isKnown) this.#folders = { ...this.#folders, tree }
    return { tree, nested: [...nested], problem }
  }

  /** Adds the files to the index; returns git's complaint, or null. */
  async #add(
    except: readonly string[],
    tracked: boolean,
    more: readonly string[] = [],
  ): Promise<string | null> {
    const args = [
      'add',
      tracked ? '--update' : '--all',
      ...more,
      '--pathspec-from-file=-',
      '--pathspec-file-nul',
    ]
    const specs = [':/', ...except.map((path) => `:(top,exclude,literal)${path}`)]
    const run = async (): Promise<string | null> => {
      const { code, stderr } = await this.git.run(args, { stdin: specs.join('\0'), okCodes: [0, 1, 128] })
      if (/^warning: could not open directory/m.test(stderr)) return `Permission denied: ${stderr}`
      // git says so of a path that is left out and ignored too, and adds all others.
      const isFine = code === 0 || (code === 1 && /^The following paths are ignored/m.test(stderr))
      return isFine || more.length > 0 ? null : stderr.trim()
    }
    const failure = await run()
    if (failure === null || !/index\.lock|unable to read|unable to create|No such file/.test(failure))
      return failure
    // A `git gc` in the checkout may remove a folder of objects, or one that no ref names yet, at that very moment.
    rmSync(`${this.#index}.lock`, { force: true })
    return run()
  }

  /** Adds these files, and returns the tree. */
  async add(paths: readonly string[]): Promise<string> {
    const args = ['add', '--pathspec-from-file=-', '--pathspec-file-nul']
    const stdin = paths.map((path) => `:(top,literal)${path}`).join('\0')
    await this.git.run(args, { stdin, okCodes: [0, 1, 128] })
    return this.#writeTree()
  }

  async #writeTree(): Promise<string> {
    this.#tree = (await this.git.run(['write-tree'])).stdout.toString().trim()
    return this.#tree
  }

  /** Changes what the index has at some paths, and the files too; returns the tree. */
  async amend(changes: Amendments): Promise<string> {
    if (changes.size === 0) return (await this.#held()) ?? this.#writeTree()
    const none = '0'.repeat((await this.#held())?.length ?? 40)
    const lines = [...changes].map(([path, to]) =>
      to === null ? `0 ${none}\t${path}\0` : `${to.mode} ${to.hash}\t${path}\0`,
    )
    await this.git.run(['update-index', '-z', '--index-info'], { stdin: lines.join('') })
    const tree = await this.#writeTree()
    const gone = [...changes].flatMap(([path, to]) => (to === null ? [`:(top,literal)${path}`] : []))
    const kept = [...changes].flatMap(([path, to]) => (to === null ? [] : [`${path}\0`]))
    if (gone.length > 0) await this.git.run(['clean', '-ffdxq', '--', ...gone], { okCodes: [0, 1] })
    if (kept.length > 0)
      await this.git.run(['checkout-index', '-f', '-u', '-z', '--stdin'], { stdin: kept.join('') })
    return tree
  }

  /** Tracked files that differ from the index now. */
  async changed(): Promise<readonly string[]> {
    const { stdout } = await this.git.run(['ls-files', '-z', '--modified', '--deduplicate'])
    return stdout.toString().split('\0').filter(Boolean)
  }

  /** Gives back to the owner the right to read and write everything: git does not store that an agent took it. */
  async #openAll(): Promise<void> {
    const { env } = this.git
    await runProgram({ program: 'chmod', args: ['-R', 'u+rwX', this.files], cwd: dirname(this.#own), env })
  }
}

/** Only what stands in the folder's own configuration counts. */
const NO_OTHER_SETTINGS = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_COUNT: '0',
}

/** How the file system of a folder treats names and modes, which is not always as in the checkout. */
function fileSystemSettings(folder: string): Settings {
  const isCaseBlind = existsSync(join(folder, 'CONFIG'))
  return [
    ['core.filemode', 'true'],
    ['core.symlinks', 'true'],
    ['core.ignorecase', String(isCaseBlind)],
    ['core.precomposeunicode', String(isCaseBlind)],
  ]
}
