import { GitError } from './git.ts'
import type { Git } from './git.ts'
import { ignoredPaths } from './repository.ts'

/** What goes into a commit, and what is said of it. */
export interface CommitRequest {
  readonly message: string
  /** Only these paths; without it everything that git does not ignore. */
  readonly paths?: readonly string[]
  /** Left as they are: repositories that somebody made inside this one, which git cannot take in. */
  readonly except?: readonly string[]
  readonly signal?: AbortSignal
}

export type CommitResult =
  | { readonly kind: 'committed'; readonly files: number; readonly added: number; readonly removed: number }
  /** A hook said no, or git itself, to line ends: what it printed. */
  | { readonly kind: 'refused'; readonly by: 'hook' | 'git'; readonly output: string }
  /** Something is in git's way (a lock, a full disk, a key that is not there): what git said. */
  | { readonly kind: 'failed'; readonly output: string }

/** Commits as git is set up: with its hooks, identity, signature, attributes and filters. */
export async function commit(git: Git, request: CommitRequest): Promise<CommitResult> {
  const options = { signal: withLimit(request.signal) }
  try {
    await stage(git, { ...request, strict: true })
    // Cleaning up may be set to drop lines that begin with #, which in notes are headings.
    const args = ['-c', 'i18n.commitEncoding=UTF-8', 'commit', '--cleanup=whitespace', '--file=-']
    if (request.paths) args.push('--only', '--', ...request.paths.map(literal))
    const { stdout } = await git.run(args, { ...options, stdin: request.message })
    return { kind: 'committed', ...sizeOf(stdout.toString()) }
  } catch (error) {
    if (options.signal.aborted)
      return { kind: 'failed', output: 'it was ended, or took longer than half an hour' }
    if (!(error instanceof GitError)) throw error
    const output = said(error)
    if (error.code === 1 && error.args.includes('commit')) return { kind: 'refused', by: 'hook', output }
    return LINE_ENDS.test(output) ? { kind: 'refused', by: 'git', output } : { kind: 'failed', output }
  }
}

/** `fatal: CRLF would be replaced by LF in notes.txt`. */
const LINE_ENDS = /^fatal: .* would be replaced by /m

/** What goes into the index. */
interface Staging {
  /** Only these paths; without it everything that git does not ignore. */
  readonly paths?: readonly string[]
  readonly except?: readonly string[]
  /** Also what git ignores. */
  readonly force?: boolean
  /** Refuse line ends that git is set up to refuse. What is only to be recorded is recorded as it is. */
  readonly strict?: boolean
}

/** Puts what is in the work tree into the index. */
export async function stage(
  git: Git,
  what: Staging,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  const wanted = what.paths?.map(literal) ?? ['.']
  const except = what.except ?? []
  if (except.length > 0) await unstage(git, except, env)
  // What git ignores it leaves out by itself, and refuses to hear of.
  const ignored = await ignoredPaths(git, except, { tracked: true })
  const unwanted = except.filter((path) => !ignored.has(path)).map((path) => `:(exclude,literal)${path}`)
  // `--verbose`, because simple-git waits where a command prints nothing.
  const lenient = what.strict ? [] : ['-c', 'core.safecrlf=false']
  const how = ['--all', '--verbose', ...(what.force ? ['--force'] : [])]
  const add = async (sparse: readonly string[]): Promise<unknown> =>
    git.run([...lenient, 'add', ...how, ...sparse, '--pathspec-from-file=-', '--pathspec-file-nul'], {
      stdin: [...wanted, ...unwanted].join('\0'),
      env,
    })
  try {
    await add([])
  } catch (error) {
    // An agent may write where only a part of the tree is checked out; a git that minds has the flag for it.
    if (!(error instanceof GitError && /sparse-checkout/.test(error.stderr))) throw error
    await add(['--sparse'])
  }
}

/** An agent may have staged, or committed, what is not to be taken in. */
async function unstage(
  git: Git,
  paths: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<void> {
  await git.run(
    ['rm', '--cached', '-r', '--force', '--ignore-unmatch', '--pathspec-from-file=-', '--pathspec-file-nul'],
    { stdin: paths.map(literal).join('\0'), env },
  )
}

/** A hook that waits for ever must not keep a run for ever. */
const LIMIT_MS = 30 * 60 * 1000

function withLimit(signal: AbortSignal | undefined): AbortSignal {
  const limit = AbortSignal.timeout(LIMIT_MS)
  return signal ? AbortSignal.any([signal, limit]) : limit
}

/** From `3 files changed, 120 insertions(+), 4 deletions(-)`, which saves asking again. */
function sizeOf(summary: string): { files: number; added: number; removed: number } {
  const count = (pattern: RegExp): number => Number(pattern.exec(summary)?.[1] ?? 0)
  return {
    files: count(/^ (\d+) files? changed/m),
    added: count(/, (\d+) insertions?\(\+\)/),
    removed: count(/, (\d+) deletions?\(-\)/),
  }
}

function literal(path: string): string {
  return `:(literal)${path}`
}

function said(error: GitError): string {
  return error.stderr.trim() || error.message
}
