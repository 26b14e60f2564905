import {
  constants,
  copyFileSync,
  existsSync,
  lstatSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { pathKey, type PathSpelling } from '../base/paths.ts'
import { literal, refusesLineEnds, stage, writeTree } from '../git/commit.ts'
import { GitError, type Git } from '../git/git.ts'
import { changedSince } from '../git/index-file.ts'
import { byKey, exact, isSameFile, respelledFiles, spellOnDisk } from '../git/path-case.ts'
import { pathSpelling, type Repository } from '../git/repository.ts'
import { readStatus, type TreeStatus } from '../git/status.ts'
import { sleep } from '../process/sleep.ts'

/** Settings that would let git trust a file to be unchanged without reading it: turned off, whatever is configured. */
const SETTINGS = {
  'core.fsmonitor': 'false',
  'core.untrackedCache': 'false',
  'core.trustctime': 'true',
  'core.checkStat': 'default',
  'core.ignoreStat': 'false',
  'core.splitIndex': 'false',
}

/** How long another git may hold the person's index before this fails. */
const PATIENCE_MS = 2000

/**
 * ralph's own index of a workspace. No agent's git writes it, so its flags and cached file data are ralph's, and its
 * status of the tree is true. The person's index is brought to the same tree whenever ralph moves something.
 */
export class OwnIndex {
  /** The git door that uses this index. */
  readonly git: Git
  readonly #path: string
  readonly #persons: string
  /** The tree that it holds; null if unknown. */
  #tree: string | null = null
  /** The person's index when it was last read. */
  #seen = ''
  #spelling: Promise<PathSpelling> | null = null
  readonly #repository: Repository
  /** When it had been written before the files were last compared with it, in seconds; 0 if unknown. */
  #compared = 0

  constructor(git: Git, repository: Repository) {
    const { gitDir } = repository
    this.#repository = repository
    this.#path = join(gitDir, 'ralph-index')
    this.#persons = join(gitDir, 'index')
    this.git = git.with({ env: { GIT_INDEX_FILE: this.#path }, settings: SETTINGS })
  }

  /** Removes the lock of a git of a dead run: nobody else can hold it now. */
  unlock(): void {
    rmSync(`${this.#path}.lock`, { force: true })
  }

  /** Repairs the index for a run that resumes after one that died: what cannot be read is made again from HEAD. */
  async mend(): Promise<void> {
    this.unlock()
    try {
      if (existsSync(this.#path)) await this.git.run(['ls-files', '--cached', '-z'])
    } catch (error) {
      if (!(error instanceof GitError)) throw error
      rmSync(this.#path, { recursive: true, force: true })
    }
  }

  /** Notes the index, so that it can be restored after somebody could have written it. */
  remember(): { readonly restore: () => void } {
    return remembered(this.#path, () => (this.#tree = null))
  }

  /** Saves a copy of it in a file. */
  keepAs(path: string): void {
    if (existsSync(this.#path)) copyWithTime(this.#path, path)
    else rmSync(path, { force: true })
  }

  /** Restores it from such a copy: what somebody has written into it since is lost. */
  takeFrom(path: string): void {
    this.unlock()
    if (existsSync(path)) copyWithTime(path, this.#path)
    this.#tree = null
    this.#compared = 0
  }

  /** The same for the person's index. */
  rememberPersons(): { readonly restore: () => void } {
    return remembered(this.#persons, () => (this.#seen = ''))
  }

  /** Starts from the person's index, before anybody else has worked here: with the person's flags. */
  adopt(): void {
    this.unlock()
    if (existsSync(this.#persons)) copyWithTime(this.#persons, this.#path)
    else rmSync(this.#path, { force: true })
    this.#seen = stampOf(this.#persons)
    this.#tree = null
    this.#compared = secondOf(this.#path)
  }

  /** Makes an index if there is none: an agent, or a cleanup, may have removed it. */
  async ensure(commit: string): Promise<void> {
    if (existsSync(this.#path)) return
    this.unlock()
    await this.git.run(['read-tree', '-m', commit])
    this.#tree = null
  }

  async status(): Promise<TreeStatus> {
    await this.#doubtUnseen()
    return readStatus(this.git)
  }

  /** Adds all files except these; returns the tree, and git's reason if it would refuse to commit it because of line ends. */
  async takeAll(
    except: readonly string[],
  ): Promise<{ readonly tree: string; readonly refused: string | null }> {
    let refused: string | null = null
    try {
      await stage(this.git, { except, strict: true })
    } catch (error) {
      if (!(error instanceof GitError) || !refusesLineEnds(error)) throw error
      refused = error.stderr.trim().split('\n').at(-1) ?? ''
      await stage(this.git, { except })
    }
    this.#tree = null
    return { tree: await this.tree(), refused }
  }

  /**
   * The ignored files that somebody added to the person's index, or removed from it.
   * Nothing else records such a decision, so this is the only thing that is taken from that index.
   */
  async differences(): Promise<{ readonly added: readonly string[]; readonly removed: readonly string[] }> {
    const stamp = stampOf(this.#persons)
    if (stamp === this.#seen || stamp === '') return { added: [], removed: [] }
    this.#seen = stamp
    const theirs = this.git.with({ env: { GIT_INDEX_FILE: this.#persons } })
    const [ours, held] = [await namesOf(this.git, ['--cached']), await namesOf(theirs, ['--cached'])]
    const [own, others] = [new Set(ours), new Set(held)]
    const missing = ours.some((path) => !others.has(path))
    const ignored = missing ? await namesOf(this.git, ['--cached', '--ignored', '--exclude-standard']) : []
    return {
      added: held.filter((path) => !own.has(path)),
      removed: ignored.filter((path) => !others.has(path)),
    }
  }

  /** Removes these paths from the index; the files stay as they are. */
  async forget(paths: readonly string[]): Promise<void> {
    await this.git.run(['update-index', '--force-remove', '-z', '--stdin'], { stdin: paths.join('\0') })
    this.#tree = null
  }

  /** Adds single files as they are. */
  async take(paths: readonly string[]): Promise<void> {
    await stage(this.git, { paths, force: true })
    this.#tree = null
  }

  /** The tree that it holds. */
  async tree(): Promise<string> {
    this.#tree ??= await writeTree(this.git)
    return this.#tree
  }

  /** Files whose spelling on disk differs from the index: from the name on disk to the name in the index. */
  async respelled(): Promise<ReadonlyMap<string, string>> {
    return respelledFiles(this.git, await this.#spelled())
  }

  /** Renames such files in the index to their names on disk. */
  async respell(names: ReadonlyMap<string, string>): Promise<void> {
    const { cwd } = this.git
    // A case-sensitive file system may have both files.
    const gone = [...names].filter(([path, old]) => isSameFile(cwd, path, old) || !existsSync(join(cwd, old)))
    if (gone.length > 0) await this.forget(gone.map(([, old]) => old))
    await stage(exact(this.git), { paths: [...names.keys()], force: true })
    this.#tree = null
  }

  /** Restores files from a commit, in the index and on disk, and removes those that the commit does not have. */
  async restore(commit: string, files: readonly string[]): Promise<void> {
    this.#tree = null
    const { stale, paths } = await this.#spelledAsIn(commit, files)
    // git would write such a file, and then remove it under its other name.
    if (stale.length > 0) await this.forget(stale)
    for (const path of stale) rmSync(join(this.git.cwd, path), { force: true })
    const args = ['restore', `--source=${commit}`, '--staged', '--worktree']
    await this.git.run([...args, '--pathspec-from-file=-', '--pathspec-file-nul'], {
      stdin: paths.map(literal).join('\0'),
    })
    if (stale.length > 0) for (const path of paths) spellOnDisk(this.git.cwd, path)
  }

  /** Reads a commit's tree into the index; the files stay as they are. */
  async hold(commit: string): Promise<void> {
    // `-i`: the files stay, whatever they are by now.
    await this.git.run(['read-tree', '-i', '-m', commit])
    this.#tree = null
    this.#seen = ''
  }

  /** Notes that something else has moved it to that tree, and perhaps the person's index too. */
  holds(tree: string): void {
    this.#tree = tree
    this.#seen = stampOf(this.#persons)
  }

  /** Writes the person's index with the same tree, under its lock, as any git does. */
  async publish(): Promise<void> {
    const lock = `${this.#persons}.lock`
    for (let waited = 0; ; waited += 50) {
      try {
        copyFileSync(this.#path, lock, constants.COPYFILE_EXCL)
        break
      } catch (error) {
        const isHeld = error instanceof Error && 'code' in error && error.code === 'EEXIST'
        if (!isHeld || waited >= PATIENCE_MS) throw isHeld ? lockedError(lock) : error
        await sleep(50)
      }
    }
    renameSync(lock, this.#persons)
    this.#seen = stampOf(this.#persons)
  }

  /**
   * Has git read those files again that changed in the second in which it had read them: it compares whole seconds, so
   * it does not see such a change of a file whose size stayed, and whose time was restored.
   */
  async #doubtUnseen(): Promise<void> {
    // What has changed after that is no older, by the clock of the file system.
    const since = this.#compared
    this.#compared = secondOf(this.#path)
    if (this.#compared === 0) return
    const entries = changedSince(readFileSync(this.#path), since, this.#repository)
    const doubted = entries.filter(({ path, changed }) => {
      const now = changeTime(join(this.git.cwd, path))
      // A file system that keeps whole seconds has zeros.
      return now !== null && now / SECOND === changed / SECOND && (now !== changed || now % SECOND === 0n)
    })
    if (doubted.length === 0) return
    const stdin = doubted.map(({ mode, oid, path }) => `${mode} ${oid}\t${path}\0`).join('')
    await this.git.run(['update-index', '-z', '--index-info'], { stdin })
  }

  /** Read once: an agent could change the setting. */
  #spelled(): Promise<PathSpelling> {
    this.#spelling ??= pathSpelling(this.git)
    return this.#spelling
  }

  /** These paths as a commit spells them, and the index's entries for them under other names. */
  async #spelledAsIn(
    commit: string,
    files: readonly string[],
  ): Promise<{ readonly stale: readonly string[]; readonly paths: readonly string[] }> {
    const spelling = await this.#spelled()
    if (!spelling.ignorecase) return { stale: [], paths: files }
    const { stdout } = await this.git.run(['ls-tree', '-r', '-z', '--full-tree', '--name-only', commit])
    const names = new Set(stdout.toString().split('\0'))
    const held = byKey([...names], spelling)
    const keys = new Set(files.map((path) => pathKey(path, spelling)).filter((key) => held.has(key)))
    const indexed = await namesOf(this.git, ['--cached'])
    const spelled = files.map((path) =>
      names.has(path) ? path : (held.get(pathKey(path, spelling)) ?? path),
    )
    return {
      stale: indexed.filter((path) => !names.has(path) && keys.has(pathKey(path, spelling))),
      paths: [...new Set(spelled)],
    }
  }
}

/**
 * Copies the index with its time. From this time git knows which files may have changed in the second in which the index
 * was written: with a later time it would take them for unchanged.
 */
function copyWithTime(from: string, to: string): void {
  copyFileSync(from, to)
  const seconds = secondOf(from)
  utimesSync(to, seconds, seconds)
}

function remembered(path: string, onChange: () => void): { readonly restore: () => void } {
  const bytes = existsSync(path) ? readFileSync(path) : null
  const stamp = stampOf(path)
  return {
    restore: () => {
      if (stampOf(path) === stamp) return
      rmSync(path, { recursive: true, force: true })
      if (bytes) writeFileSync(path, bytes)
      onChange()
    },
  }
}

async function namesOf(git: Git, which: readonly string[]): Promise<readonly string[]> {
  const { stdout } = await git.run(['ls-files', '-z', ...which])
  return stdout.toString().split('\0').filter(Boolean)
}

const SECOND = 1_000_000_000n

/** When a file had last changed, in nanoseconds; null where there is none, or nobody can know. */
function changeTime(path: string): bigint | null {
  try {
    return lstatSync(path, { bigint: true }).ctimeNs
  } catch {
    return null
  }
}

/** The second in which a file was written; 0 for none. */
function secondOf(path: string): number {
  return Math.floor((statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) / 1000)
}

/** A text that changes when somebody writes the file. */
function stampOf(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false, bigint: true })
  return stats ? `${stats.mtimeNs} ${stats.ctimeNs} ${stats.size} ${stats.ino}` : ''
}

function lockedError(lock: string): GitError {
  return new GitError(['add'], 128, `fatal: Unable to create '${lock}': File exists.`)
}
