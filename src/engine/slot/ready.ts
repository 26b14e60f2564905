import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { foldersAbove, pathWithin } from '../../base/paths.ts'
import { textAt } from '../../base/read-file.ts'
import { removeAll } from '../../base/remove.ts'
import { tellingLines } from '../../base/failure-lines.ts'
import { folderNamesIn } from '../../base/folder.ts'
import { ignoredPaths } from '../../git/repository.ts'
import { runProgram } from '../../process/run.ts'
import type { GateResult } from '../../base/nouns.ts'
import type { Home } from './home.ts'
import { installCommands, installersIn, isInstalled, ownScripts, type Installer } from './packages.ts'

/** What a folder needs besides the files of a tree. Paths and patterns are relative to the project's root. */
export interface Needs {
  /** A command that makes a folder ready; null detects it from lock files, an empty text is none. */
  readonly prepare: string | null
  /** Patterns of ignored files to copy. */
  readonly copy: readonly string[]
  /** Folders outside of the repository, which are beside the folder too. */
  readonly link: readonly string[]
  /** Ignored files that stay between tasks. */
  readonly keep: readonly string[]
}

/** Runs a command that installs something, in the cage for that. */
export type RunInstall = (command: string) => Promise<GateResult>

/** The result of making a folder ready. */
export interface Readied {
  /** Why it cannot be made ready; null if it is. */
  readonly problem: string | null
  readonly warnings: readonly string[]
}

/** Lists patterns of ignored files, which other tools copy into worktrees too. */
const INCLUDE_FILE = '.worktreeinclude'
/** Where tools keep what they can make again, inside of packages: to write there changes no package. */
const CACHES = ['.cache', '.vite', '.vite-temp', '.vitest', '.bin', '__pycache__']

/** Makes the folders of slots ready: installs packages, and copies the ignored files that are asked for. */
export class Readying {
  readonly #home: Home
  readonly #project: string
  readonly #needs: Needs

  constructor(home: Home, needs: Needs) {
    this.#home = home
    this.#project = join(home.repository.root, home.prefix)
    this.#needs = needs
  }

  /** The commands that would install what a project needs. */
  commandsFor(root: string): readonly string[] {
    return installCommands(root, this.#needs.prepare)
  }

  /** The paths, from the top of the repository, of all that readying puts into a folder: they are in no tree. */
  async paths(root: string): Promise<readonly string[]> {
    const { prefix } = this.#home
    const installed = installersIn(root).flatMap((one) => this.#foldersOf(one, root))
    const folders = await this.#untracked([...installed, ...selfDescriptions(root)])
    return [...folders, ...(await this.filesToCopy())].map((path) => `${prefix}${path}`)
  }

  /** Ignored files that a clean-up leaves: packages, and what is configured. */
  async kept(root: string): Promise<readonly string[]> {
    const kept = [...installersIn(root).flatMap(({ beside = [] }) => beside), ...this.#needs.keep]
    return [...(await this.paths(root)), ...kept.map((path) => `${this.#home.prefix}${path}`)]
  }

  /** A text that changes with everything that decides which packages are installed. */
  keyFor(root: string): string {
    const hash = createHash('sha256').update(this.#needs.prepare ?? '')
    for (const { lock, command } of installersIn(root))
      hash.update(`\0${command}\0`).update(readFileSync(join(root, lock)))
    return hash.digest('hex').slice(0, 16)
  }

  /** Installs the packages of a folder; a copy of the checkout's where that holds the same. */
  async install(root: string, run: RunInstall, onCommand: (command: string) => void): Promise<Readied> {
    const warnings: string[] = []
    const { prepare } = this.#needs
    if (prepare !== null) {
      const problem = prepare.trim() === '' ? null : await this.#run(prepare, run, onCommand)
      return { problem, warnings }
    }
    for (const installer of installersIn(root)) {
      if (await this.#copied(installer, root)) {
        const command = installer.isNested ? ownScripts(root) : null
        const problem = command === null ? null : await this.#run(command, run, onCommand)
        if (problem !== null) warnings.push(problem)
        continue
      }
      // Installers leave what is there as it is, also a file that a gate has changed.
      for (const path of await this.#untracked(this.#foldersOf(installer, root))) removeAll(join(root, path))
      const problem = await this.#run(installer.command, run, onCommand)
      if (problem === null) continue
      if (!installer.isOptional) return { problem, warnings }
      warnings.push(`${problem}\nThe gates run with what the machine has`)
    }
    return { problem: null, warnings }
  }

  /** Copies the files that are named, and links the folders beside. */
  async placeNamed(root: string): Promise<void> {
    for (const path of await this.filesToCopy()) copyInto(join(this.#project, path), root, path)
    for (const path of this.linked) {
      const [from, to] = [resolve(this.#project, path), resolve(root, path)]
      if (lstatSync(to, { throwIfNoEntry: false })?.isSymbolicLink()) rmSync(to)
      if (existsSync(from) && !existsSync(to)) symlinkSync(from, to)
    }
  }

  /** The folders outside of the repository that are linked. */
  get linked(): readonly string[] {
    const { root } = this.#home.repository
    return this.#needs.link.filter((path) => pathWithin(root, resolve(this.#project, path)) === null)
  }

  /**
   * The ignored files that `copy` or `.worktreeinclude` names, relative to the project's root; as they are at first, for
   * what lands may change what git ignores, and a copied key must never be part of a tree.
   */
  filesToCopy(): Promise<readonly string[]> {
    this.#toCopy ??= this.#findToCopy()
    return this.#toCopy
  }
  #toCopy: Promise<readonly string[]> | null = null

  async #findToCopy(): Promise<readonly string[]> {
    const { copy } = this.#needs
    const isThere = existsSync(join(this.#project, INCLUDE_FILE))
    if (copy.length === 0 && !isThere) return []
    const git = this.#home.git.at(this.#project)
    const patterns = [...copy.flatMap((pattern) => ['-x', pattern]), ...(isThere ? ['-X', INCLUDE_FILE] : [])]
    const { stdout } = await git.run(['ls-files', '--others', '--ignored', '-z', ...patterns])
    const found = stdout.toString().split('\0').filter(Boolean)
    const ignored = await ignoredPaths(git, found)
    return found.filter((path) => ignored.has(path))
  }

  /** Whether something in the packages was changed after the stamp: what gates run must not be what the last ones left. */
  async isTouched(root: string, stamp: string): Promise<boolean> {
    const folders = installersIn(root)
      .flatMap((one) => this.#foldersOf(one, root))
      .map((path) => join(root, path))
      .filter(existsSync)
    if (folders.length === 0) return false
    const skipped = CACHES.flatMap((name) => ['-name', name, '-o']).slice(0, -1)
    const args = [...folders, '(', ...skipped, ')', '-prune', '-o', '-newercc', stamp, '-print', '-quit']
    const { stdout } = await runProgram({ program: 'find', args, cwd: root, env: this.#home.git.env })
    return stdout.length > 0
  }

  /** Notes for which key the packages were installed, and what git ignores: some of it the installing has made. */
  stamp(path: string, key: string, ignored: readonly string[]): void {
    // A new file has the present time, whatever the one before had in it.
    rmSync(path, { force: true })
    writeFileSync(path, [key, ...ignored.filter((one) => !one.endsWith('.egg-info/'))].join('\0'))
  }

  /** Whether all that is noted so is still in a folder: a clean-up after failed gates removes what no one else makes. */
  isWhole(top: string, stamp: string, key: string): boolean {
    const [noted, ...ignored] = textAt(stamp).split('\0')
    return noted === key && ignored.every((path) => existsSync(join(top, path)))
  }

  /** The installed folders of a project, and of the packages in it. */
  #foldersOf({ folder, isNested }: Installer, root: string): readonly string[] {
    if (!isNested) return [folder]
    const nested = this.#packages().filter((path) => existsSync(join(root, path, 'package.json')))
    return [folder, ...nested.map((path) => `${path}/${folder}`)]
  }

  /** The folders of the checkout's own packages, in a project of several: those that have packages of their own. */
  #packages(): readonly string[] {
    this.#nested ??= packagesBelow(this.#project)
    return this.#nested
  }
  #nested: readonly string[] | null = null

  /** Without the folders that are committed, as a vendor folder may be. */
  async #untracked(folders: readonly string[]): Promise<readonly string[]> {
    if (folders.length === 0) return []
    const { stdout } = await this.#home.git.at(this.#project).run(['ls-files', '-z', '--', ...folders])
    const tracked = stdout.toString().split('\0')
    return folders.filter((folder) => !tracked.some((path) => path.startsWith(`${folder}/`)))
  }

  async #run(command: string, run: RunInstall, onCommand: (command: string) => void): Promise<string | null> {
    onCommand(command)
    const result = await run(command)
    if (result.verdict === 'passed' || result.verdict === 'interrupted') return null
    const lines = tellingLines(result.excerpt, 6).join('\n')
    return `the packages could not be installed with ${command}: ${result.reason}${lines === '' ? '' : `\n${lines}`}`
  }

  /** Copies the checkout's packages, if they are those that the folder's lock file asks for. */
  async #copied(installer: Installer, root: string): Promise<boolean> {
    const wanted = readFileSync(join(root, installer.lock), 'utf8')
    if (!isInstalled(this.#project, installer, wanted)) return false
    for (const path of this.#foldersOf(installer, root)) {
      const [from, to] = [join(this.#project, path), join(root, path)]
      rmSync(to, { recursive: true, force: true })
      if (existsSync(from) && !(await this.#copyFolder(from, to))) return false
    }
    return !installer.namesItself || this.#renamed(installer.folder, root)
  }

  async #copyFolder(from: string, to: string): Promise<boolean> {
    mkdirSync(dirname(to), { recursive: true })
    const { env } = this.#home.git
    for (const how of [['-a', '--reflink=auto'], ['-a']]) {
      const { code } = await runProgram({ program: 'cp', args: [...how, from, to], cwd: dirname(to), env })
      if (code === 0) return true
      rmSync(to, { recursive: true, force: true })
    }
    return false
  }

  /** Changes the checkout's path in a copied folder to the new one; false, and no folder, if a program contains it. */
  async #renamed(folder: string, root: string): Promise<boolean> {
    const copy = join(root, folder)
    const { env } = this.#home.git
    const args = ['-rlF', '--', this.#project, copy]
    const { stdout } = await runProgram({ program: 'grep', args, cwd: root, env })
    for (const file of stdout.toString().split('\n').filter(Boolean)) {
      if (file.endsWith('.pyc')) {
        rmSync(file)
        continue
      }
      const bytes = readFileSync(file)
      if (bytes.includes(0)) {
        rmSync(copy, { recursive: true, force: true })
        return false
      }
      writeFileSync(file, bytes.toString('latin1').replaceAll(latin(this.#project), latin(root)), 'latin1')
    }
    return true
  }
}

/** What pip writes about a project itself, beside its sources, where it installs that for editing. */
function selfDescriptions(root: string): readonly string[] {
  return ['', 'src/'].flatMap((folder) =>
    folderNamesIn(join(root, folder)).flatMap((name) => (name.endsWith('.egg-info') ? [folder + name] : [])),
  )
}

function latin(text: string): string {
  return Buffer.from(text).toString('latin1')
}

/** Copies a file to a path below a folder. A link in the way, which an agent may have made, is removed and not followed. */
function copyInto(from: string, root: string, path: string): void {
  if (!lstatSync(from, { throwIfNoEntry: false })?.isFile()) return
  for (const folder of foldersAbove(path)) {
    const at = join(root, folder)
    if (lstatSync(at, { throwIfNoEntry: false })?.isDirectory()) continue
    rmSync(at, { force: true })
    mkdirSync(at)
  }
  const to = join(root, path)
  rmSync(to, { recursive: true, force: true })
  copyFileSync(from, to)
}

/** Folders with a package.json and packages of their own, at most three below a project. */
function packagesBelow(project: string): readonly string[] {
  const found: string[] = []
  const visit = (folder: string, depth: number): void => {
    for (const name of folderNamesIn(join(project, folder))) {
      if (name === 'node_modules' || name.startsWith('.')) continue
      const path = folder === '' ? name : `${folder}/${name}`
      if (existsSync(join(project, path, 'node_modules'))) found.push(path)
      if (depth < DEEPEST) visit(path, depth + 1)
    }
  }
  if (existsSync(join(project, 'node_modules'))) visit('', 1)
  return found
}

const DEEPEST = 3
