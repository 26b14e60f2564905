import { GitError, type Git } from './git.ts'
import { ignoredPaths } from './repository.ts'

export type CommitResult =
  | {
      readonly kind: 'committed'
      /** The first digits of its hash. */
      readonly commit: string
      readonly files: number
      readonly added: number
      readonly removed: number
    }
  /** A hook refused it, or git itself because of line ends, with this output. */
  | { readonly kind: 'refused'; readonly by: 'hook' | 'git'; readonly output: string }
  /** Something is in git's way (a lock, a full disk, a missing key), with git's output. */
  | { readonly kind: 'failed'; readonly output: string }

/** What goes into a commit, and its message. */
interface CommitRequest {
  readonly message: string
  /** These paths as they are in the work tree; without it the index. */
  readonly paths?: readonly string[]
  readonly signal?: AbortSignal
}

/** Commits with the person's settings: hooks, identity, signature, attributes and filters. */
export async function commit(git: Git, { message, paths, signal }: CommitRequest): Promise<CommitResult> {
  const limited = withLimit(signal)
  try {
    if (paths) await stage(git, { paths, strict: true })
    // The default cleanup may remove lines that begin with #, which are headings in notes.
    const args = ['-c', 'i18n.commitEncoding=UTF-8', 'commit', '--cleanup=whitespace', '--file=-']
    const only = paths ? ['--only', '--', ...paths.map(literal)] : []
    const { stdout } = await git.run([...args, ...only], { signal: limited, stdin: message })
    return { kind: 'committed', commit: nameIn(stdout.toString()), ...sizeOf(stdout.toString()) }
  } catch (error) {
    if (limited.aborted) return { kind: 'failed', output: 'it was ended, or took longer than half an hour' }
    if (!(error instanceof GitError)) throw error
    const output = error.stderr.trim() || error.message
    if (error.code === 1 && error.args.includes('commit')) return { kind: 'refused', by: 'hook', output }
    return refusesLineEnds(error) ? { kind: 'refused', by: 'git', output } : { kind: 'failed', output }
  }
}

/** Whether git refused line ends, as `core.safecrlf` asks: `fatal: CRLF would be replaced by LF in notes.txt`. */
export function refusesLineEnds(error: GitError): boolean {
  return /^fatal: .* would be replaced by /m.test(error.stderr)
}

/** What goes into the index. */
interface Staging {
  /** Only these paths; without it everything that git does not ignore. */
  readonly paths?: readonly string[]
  /** These are left as they are. */
  readonly except?: readonly string[]
  /** Also what git ignores. */
  readonly force?: boolean
  /** Whether to refuse line ends that git is set up to refuse. Work that is only recorded is never refused. */
  readonly strict?: boolean
}

/** Adds what is in the work tree to the index. */
export async function stage(git: Git, { paths, except = [], force, strict }: Staging): Promise<void> {
  const wanted = paths?.map(literal) ?? ['.']
  // git leaves ignored paths out by itself, and fails if they are named.
  const ignored = await ignoredPaths(git, except, { tracked: true })
  const unwanted = except.filter((path) => !ignored.has(path)).map((path) => `:(exclude,literal)${path}`)
  const lenient = strict ? [] : ['-c', 'core.safecrlf=false']
  const add = (more: readonly string[]): Promise<unknown> =>
    git.run([...lenient, 'add', '--all', ...more, '--pathspec-from-file=-', '--pathspec-file-nul'], {
      stdin: [...wanted, ...unwanted].join('\0'),
    })
  const how = force ? ['--force'] : []
  try {
    await add(how)
  } catch (error) {
    // An agent may write outside a sparse checkout; only a git that checks that knows the flag for it.
    if (!(error instanceof GitError && /sparse-checkout/.test(error.stderr))) throw error
    await add([...how, '--sparse'])
  }
}

/** Limits how long a hook can hold up a run. */
const LIMIT_MS = 30 * 60 * 1000

function withLimit(signal: AbortSignal | undefined): AbortSignal {
  const limit = AbortSignal.timeout(LIMIT_MS)
  return signal ? AbortSignal.any([signal, limit]) : limit
}

/** From `[main 1a2b3c4] T-004: Add it`. */
function nameIn(summary: string): string {
  return / ([0-9a-f]{4,64})\] /.exec(summary)?.[1] ?? 'HEAD'
}

/** From `3 files changed, 120 insertions(+), 4 deletions(-)`, which saves a second command. */
function sizeOf(summary: string): { files: number; added: number; removed: number } {
  const count = (pattern: RegExp): number => Number(pattern.exec(summary)?.[1] ?? 0)
  return {
    files: count(/^ (\d+) files? changed/m),
    added: count(/, (\d+) insertions?\(\+\)/),
    removed: count(/, (\d+) deletions?\(-\)/),
  }
}

/** A pathspec that matches only this very path. */
export function literal(path: string): string {
  return `:(literal)${path}`
}
