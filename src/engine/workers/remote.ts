import { UserError } from '../../base/errors.ts'
import { oneAtATime } from '../../base/mutex.ts'
import { GitError, type Git } from '../../git/git.ts'
import { isAncestor, objectAt } from '../../git/head.ts'
import { pushForward, pushGone, pushNew, type PushResult } from '../../git/remote.ts'
import { CANDIDATES, RECORDS, STRAY } from '../../git/record.ts'
import { copyRefs } from '../../git/refs.ts'
import { sleep } from '../../process/sleep.ts'

/** The time between two tries: a network may come back. */
const PAUSE_MS = 1000

/** How long, and who waits, while an unreachable remote is tried again. */
interface RemotePatience {
  readonly seconds: number
  /** Aborting it ends every wait. */
  readonly signal: AbortSignal
  readonly warn: (message: string) => void
}

const NO_PATIENCE: RemotePatience = {
  seconds: 5,
  signal: new AbortController().signal,
  warn: () => undefined,
}

/** The repository that a run and its workers share, as one of them reaches it. */
export class Remote {
  readonly name: string
  readonly #git: Git
  /** One fetch at a time: fetches of several jobs would collide. */
  readonly #inTurn = oneAtATime()
  #patience = NO_PATIENCE

  /** `git` runs at the top of the checkout. */
  constructor(git: Git, name: string) {
    this.#git = git
    this.name = name
  }

  /** From now on an unreachable remote is tried again for so long; with null hardly at all. */
  waits(patience: RemotePatience | null): void {
    this.#patience = patience ?? NO_PATIENCE
  }

  /** Throws if there is no such remote. */
  async check(): Promise<void> {
    const { code } = await this.#git.run(['remote', 'get-url', this.name], { okCodes: [0, 2, 128] })
    if (code === 0) return
    throw new UserError(
      `this repository has no remote named ${this.name}`,
      'Workers and the run meet there: git remote add, or name another with --remote, or "queue": { "remote": … }.',
    )
  }

  /** Fetches a branch and returns its commit; null if the remote has no such branch. */
  async fetchBranch(branch: string): Promise<string | null> {
    const tracking = this.#tracking(branch)
    try {
      await this.#bring([[`refs/heads/${branch}`, tracking]], { force: true })
    } catch (error) {
      if (error instanceof GitError && /couldn't find remote ref/.test(error.stderr)) return null
      throw this.#unreachable(error)
    }
    return objectAt(this.#git, tracking)
  }

  /** Fetches a commit of a branch; false if the branch on the remote does not hold it. */
  async bringBase(branch: string, commit: string): Promise<boolean> {
    const tracking = this.#tracking(branch)
    // Usually it is the last commit that landed.
    if ((await this.fetchBranch(branch)) === commit) return true
    if (await this.isAncestor(commit, tracking)) return true
    const { stdout } = await this.#git.run(['rev-parse', '--is-shallow-repository'])
    if (stdout.toString().trim() !== 'true') return false
    await this.#inTurn(() => this.#git.run(['fetch', '--quiet', '--no-tags', '--unshallow', this.name]))
    return this.isAncestor(commit, tracking)
  }

  /** Fetches the records of a task, or all records and candidates; refs here stay as they are. */
  async bringKept(task?: string): Promise<void> {
    const patterns = task === undefined ? [`${RECORDS}/*`, `${CANDIDATES}/*`] : [`${RECORDS}/${task}/*`]
    try {
      await this.#bring(patterns.map((refs) => [refs, refs]))
    } catch (error) {
      // A ref of the same name that was made here is another one, and stays.
      if (!isRejected(error)) throw this.#unreachable(error)
    }
  }

  /** Fetches the refs of these names; what had those names here, from an earlier run, is kept under others. */
  async bring(refs: readonly string[]): Promise<void> {
    const pairs = refs.map((ref) => [ref, ref] as const)
    try {
      await this.#bring(pairs)
    } catch (error) {
      if (!isRejected(error)) throw error
      await this.free(refs)
      await this.#bring(pairs)
    }
  }

  /** Moves a branch of the remote forward, with the person's hooks. */
  async pushBranch(branch: string, commit: string): Promise<PushResult> {
    return this.#push(() => pushForward(this.#git, this.name, commit, branch))
  }

  /** Creates refs there with the names that they have here. */
  pushNew(refs: readonly string[]): Promise<PushResult> {
    return this.#push(() => pushNew(this.#git, this.name, refs))
  }

  /** Pushes the kept attempts, except those whose ref exists there. */
  async pushRecords(task: string): Promise<void> {
    const refs = await this.#refsIn(`${RECORDS}/${task}`)
    if (refs.length > 0) await this.pushNew(refs)
  }

  /** The refs of candidates on the remote. */
  candidates(): Promise<readonly string[]> {
    return this.#refsIn(CANDIDATES)
  }

  async #refsIn(folder: string): Promise<readonly string[]> {
    const { stdout } = await this.#git.run(['for-each-ref', '--format=%(refname)', folder])
    return stdout.toString().split('\n').filter(Boolean)
  }

  /** Removes refs there; one that is gone already counts as removed. */
  async remove(refs: readonly string[]): Promise<void> {
    if (refs.length > 0) await pushGone(this.#git, this.name, refs)
  }

  /** Removes a ref here, which is there by now. */
  async forget(ref: string): Promise<void> {
    await this.#git.run(['update-ref', '-d', ref])
  }

  /** Moves existing refs of these names aside here: an agent could read them, and a later run could land them. */
  async free(refs: readonly string[]): Promise<void> {
    const { stdout } = await this.#git.run(['for-each-ref', '--format=%(refname) %(objectname)', ...refs])
    for (const line of stdout.toString().split('\n').filter(Boolean)) {
      const [ref = '', commit = ''] = line.split(' ')
      const to = `${STRAY}/${commit.slice(0, 10)}/${ref.slice('refs/ralph/'.length)}`
      await this.#git.run(['update-ref', '--stdin'], {
        stdin: `update ${to} ${commit}\ndelete ${ref} ${commit}\n`,
      })
    }
  }

  isAncestor(ancestor: string, of: string): Promise<boolean> {
    return isAncestor(this.#git, ancestor, of)
  }

  #tracking(branch: string): string {
    return `refs/remotes/${this.name}/${branch}`
  }

  #unreachable(error: unknown): unknown {
    if (!(error instanceof GitError)) return error
    return new UserError(
      `git cannot fetch from ${this.name}: ${lineOf(error.stderr || error.message)}`,
      `Try it: git fetch ${this.name}`,
    )
  }

  async #bring(pairs: readonly (readonly [from: string, to: string])[], options = {}): Promise<void> {
    const copy = async (): Promise<GitError | null> => {
      try {
        await this.#inTurn(() => copyRefs(this.#git, this.name, pairs, options))
        return null
      } catch (error) {
        if (error instanceof GitError) return error
        throw error
      }
    }
    const failure = await this.#patiently(copy, (error) => error?.stderr ?? null)
    if (failure) throw failure
  }

  #push(work: () => Promise<PushResult>): Promise<PushResult> {
    return this.#patiently(work, (result) => (result.kind === 'refused' ? result.reason : null))
  }

  /** Repeats the work as long as only the network makes it fail; `reasonOf` returns why it failed, or null. */
  async #patiently<T>(work: () => Promise<T>, reasonOf: (result: T) => string | null): Promise<T> {
    const begunAt = performance.now()
    for (let isFirst = true; ; isFirst = false) {
      const result = await work()
      const reason = reasonOf(result)
      const { seconds, signal, warn } = this.#patience
      const isLate = signal.aborted || performance.now() - begunAt > seconds * 1000
      if (reason === null || isLate || !isOfNetwork(reason)) return result
      if (isFirst) warn(`${this.name} cannot be reached, and is tried again: ${lineOf(reason)}`)
      await sleep(PAUSE_MS, signal)
    }
  }
}

/** Whether a fetch was refused only because a ref of that name is here: git says nothing of it when it is to be quiet. */
function isRejected(error: unknown): boolean {
  if (!(error instanceof GitError)) return false
  return error.code === 1 && (error.stderr.trim() === '' || /rejected|would clobber/.test(error.stderr))
}

/** The line of git's output that names the reason. */
function lineOf(text: string): string {
  const lines = text.split('\n').filter(Boolean)
  const line = lines.find((one) => /^(?:fatal|error): /.test(one)) ?? lines[0] ?? text
  return line.replace(/^(?:fatal|error): /, '')
}

/** Whether another try may help; a refusal by the server is final. */
function isOfNetwork(reason: string): boolean {
  return NETWORK.test(reason) && !/returned error: 4\d\d/.test(reason)
}

const NETWORK =
  /could not resolve|timed out|connection|connect to|unreachable|no route|unable to access|hung up|early eof|temporar|cannot lock ref/i
