import { GitError as SimpleGitError, type SimpleGit, simpleGit } from 'simple-git'
import { findOnPath } from '../process/program.ts'
import { type Git, GitError } from './git.ts'

/** Pushes the branch that is checked out to its usual place and returns its name, or git's message. */
export async function pushBranch(
  git: Git,
): Promise<{ readonly branch: string } | { readonly problem: string }> {
  const door = openSimple(git)
  try {
    await door.push()
    return { branch: (await door.branchLocal()).current }
  } catch (error) {
    if (error instanceof SimpleGitError) return { problem: withoutHints(error.message) || 'git push failed' }
    throw error
  }
}

/** Variables with which the person says how to reach a remote; simple-git wants each to be allowed. */
const REACH = new Set(['GIT_SSH_COMMAND', 'GIT_SSH', 'GIT_ASKPASS', 'SSH_ASKPASS'])

function openSimple({ cwd, env }: Git): SimpleGit {
  const allowed = Object.fromEntries(
    Object.entries(env).filter(([name]) => !OWN.test(name) || REACH.has(name) || CONFIGURED.test(name)),
  )
  return simpleGit({
    baseDir: cwd,
    allowEnvironment: Object.keys(allowed),
    binary: findOnPath('git', env) ?? 'git',
    unsafe: {
      allowUnsafeCustomBinary: true,
      allowUnsafeSshCommand: true,
      allowUnsafeAskPass: true,
      allowUnsafeConfigEnvCount: true,
      allowUnsafeConfigPaths: true,
    },
  }).env(allowed)
}

/** Editors and pagers are for a person; of git's own variables only those for remotes and settings are needed. */
const OWN = /^(?:GIT_|EDITOR$|VISUAL$|PAGER$)/
const CONFIGURED = /^GIT_(?:CONFIG_|TERMINAL_PROMPT$)/

/** Removes git's hints, which are longer than its message. */
function withoutHints(text: string): string {
  const lines = text.split('\n').filter((line) => !line.startsWith('hint:'))
  return lines.join('\n').trim()
}

/** How a push went. */
export type PushResult =
  | { readonly kind: 'pushed' }
  /** The remote has another commit there: for a branch, one that is not in what was pushed. */
  | { readonly kind: 'overtaken' }
  /** The remote refuses it, or cannot be reached, with its reason or git's. */
  | { readonly kind: 'refused'; readonly reason: string }

/** Pushes a commit to a branch of a remote, which only moves forward. */
export function pushForward(git: Git, remote: string, commit: string, branch: string): Promise<PushResult> {
  return push(git, [remote, `${commit}:refs/heads/${branch}`])
}

/** Creates refs on a remote; an existing one that differs is not changed. */
export function pushNew(git: Git, remote: string, refs: readonly string[]): Promise<PushResult> {
  const leases = refs.map((ref) => `--force-with-lease=${ref}:`)
  return push(git, ['--no-verify', ...leases, remote, ...refs.map((ref) => `${ref}:${ref}`)])
}

/** Deletes refs on a remote. */
export function pushGone(git: Git, remote: string, refs: readonly string[]): Promise<PushResult> {
  return push(git, ['--no-verify', remote, ...refs.map((ref) => `:${ref}`)])
}

async function push(git: Git, args: readonly string[]): Promise<PushResult> {
  try {
    const { code, stdout, stderr } = await git.run(['push', '--porcelain', '--no-follow-tags', ...args], {
      okCodes: [0, 1],
    })
    if (code === 0) return { kind: 'pushed' }
    // `!	<from>:<to>	[rejected] (fetch first)`
    const refused = stdout
      .toString()
      .split('\n')
      .flatMap((line) => (line.startsWith('!\t') ? [line.split('\t')] : []))
    const real = refused.find(([, , why = '']) => !OVERTAKEN.test(why))
    if (refused.length > 0 && !real) return { kind: 'overtaken' }
    return { kind: 'refused', reason: reasonOf(stderr, real?.[2]) }
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    return { kind: 'refused', reason: reasonOf(error.stderr) }
  }
}

const OVERTAKEN =
  /\((?:fetch first|non-fast-forward|stale info|already exists|incorrect old value provided|failed to update ref)\)/

/** The remote's own message is more useful than git's summary of it. */
function reasonOf(stderr: string, summary = ''): string {
  const lines = stderr.split('\n').map((line) => line.trim())
  const remote = lines.flatMap((line) => (/^remote: ?\S/.test(line) ? [line.replace(/^remote: ?/, '')] : []))
  const own = lines.filter(
    (line) => /^(?:fatal|error): /.test(line) && !/failed to push some refs/.test(line),
  )
  return [...remote.slice(0, 3), ...own.slice(0, 1), summary].filter(Boolean).join('; ') || 'git push failed'
}
