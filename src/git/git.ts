/** The one door to git: all of ralph's git processes are started here. */
export interface Git {
  /** The folder that commands run in. */
  readonly cwd: string
  /** The environment of git. */
  readonly env: Readonly<Record<string, string>>
  /** Whether it starts nothing that the repository names: no hook, filter or monitor. */
  readonly isReading: boolean
  /**
   * Runs one git command. An exit code that is not in `okCodes` (by default 0 alone) throws a GitError
   * with the arguments and git's output.
   */
  run(args: readonly string[], options?: GitOptions): Promise<GitResult>
  /** The same door in another folder. */
  at(cwd: string): Git
  /** The same door, with additional environment and settings for each command. */
  with(more: GitSurroundings): Git
}

export interface GitOptions {
  readonly stdin?: string | Uint8Array
  /** Takes git's output as it comes; then the result has none. */
  readonly onOutput?: (chunk: Buffer) => void
  readonly okCodes?: readonly number[]
  /** Added to git's environment for this command: a temporary index, an identity. */
  readonly env?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

/** What a door adds to each of its commands. */
export interface GitSurroundings {
  readonly env?: Readonly<Record<string, string>>
  /** Settings that override git's own configuration: `core.fsmonitor` → `false`. */
  readonly settings?: Readonly<Record<string, string>>
}

export interface GitResult {
  readonly code: number
  readonly stdout: Buffer
  readonly stderr: string
}

/** A git command that failed: its arguments, its exit code and its output. */
export class GitError extends Error {
  readonly args: readonly string[]
  readonly code: number | null
  readonly stderr: string

  constructor(args: readonly string[], code: number | null, stderr: string) {
    const command = args.find((arg, i) => arg !== '-c' && args[i - 1] !== '-c')
    super(`git ${command ?? ''} failed (${code ?? 'signal'}): ${stderr.trim() || 'no message'}`)
    this.name = 'GitError'
    this.args = args
    this.code = code
    this.stderr = stderr
  }
}
