import { GitError, type Git } from './git.ts'

/** The commit's first digits, or git's or a hook's reason not to make it. */
type CommitResult =
  | { readonly kind: 'committed'; readonly commit: string }
  | { readonly kind: 'refused'; readonly output: string }

/** What goes into a commit, and its message. */
interface CommitRequest {
  readonly message: string
  /** These paths as they are in the work tree, and nothing else. */
  readonly paths: readonly string[]
  readonly signal?: AbortSignal
}

/** Limits how long a hook can hold up ralph. */
const LIMIT_MS = 30 * 60 * 1000

/** Commits with the person's settings: hooks, identity, signature, attributes and filters. */
export async function commit(git: Git, { message, paths, signal }: CommitRequest): Promise<CommitResult> {
  const limit = AbortSignal.timeout(LIMIT_MS)
  const limited = signal ? AbortSignal.any([signal, limit]) : limit
  const specs = paths.map(literal)
  const add = ['add', '--all', '--pathspec-from-file=-', '--pathspec-file-nul']
  // The default cleanup may remove lines that begin with #, which are headings in notes.
  const args = ['-c', 'i18n.commitEncoding=UTF-8', 'commit', '--cleanup=whitespace', '--file=-']
  try {
    await git.run(add, { signal: limited, stdin: specs.join('\0') })
    await git.run([...args, '--only', '--', ...specs], { signal: limited, stdin: message })
    const { stdout } = await git.run(['rev-parse', '--short', 'HEAD'])
    return { kind: 'committed', commit: stdout.toString().trim() }
  } catch (error) {
    if (limited.aborted) return { kind: 'refused', output: 'it was ended, or took longer than half an hour' }
    if (!(error instanceof GitError)) throw error
    return { kind: 'refused', output: error.stderr.trim() || error.message }
  }
}

/** A pathspec that matches only this very path. */
export function literal(path: string): string {
  return `:(literal)${path}`
}
