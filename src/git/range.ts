import { UserError } from '../base/errors.ts'
import type { Git } from './git.ts'

/** A range of history: from one commit to another, or to the checkout. */
export interface Range {
  /** As a person would write it. */
  readonly text: string
  /** A commit, or the empty tree. */
  readonly from: string
  /** Null for the checkout. */
  readonly to: string | null
}

/**
 * Resolves what a person writes: `a..b`, `a...b` (from the common ancestor) or `a` (from the common ancestor with the
 * checkout); without a text, from the common ancestor with the main branch.
 */
export async function resolveRange(git: Git, typed: string | undefined): Promise<Range> {
  const text = typed ?? (await mainBranch(git))
  const [, start = '', dots, end = ''] = /^(.*?)(?:(\.\.\.?)(.*))?$/s.exec(text) ?? []
  const to = dots === undefined ? null : end || 'HEAD'
  const [from, last] = await Promise.all([commitOf(git, start || 'HEAD'), commitOf(git, to ?? 'HEAD')])
  const shown = `${start || 'HEAD'}${dots ?? '...'}${to ?? ''}`
  if (dots === '..') return { text: shown, from, to: last }
  return { text: shown, from: await partingOf(git, [from, last], text), to: to === null ? null : last }
}

async function commitOf(git: Git, name: string): Promise<string> {
  // A forge writes this for the state before the first push.
  if (/^0{40,64}$/.test(name)) return emptyTree(git)
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`]
  const { code, stdout } = await git.run(args, { okCodes: [0, 1, 128] })
  if (code === 0) return stdout.toString().trim()
  // Without any commit, git's own message is better.
  if (name === 'HEAD') await git.run(['log', '-1', 'HEAD', '--'])
  throw new UserError(
    `there is no commit ${name}`,
    'A range is a..b, a...b or one commit, branch or tag; a task is T-004. A clone of part of the history may not hold it: git fetch --unshallow',
  )
}

/** The name of the empty tree, which git knows without storing it. */
export async function emptyTree(git: Git): Promise<string> {
  return (await git.run(['hash-object', '-t', 'tree', '--stdin'], { stdin: '' })).stdout.toString().trim()
}

async function partingOf(git: Git, [one, other]: readonly [string, string], text: string): Promise<string> {
  if (one === other) return one
  const { code, stdout } = await git.run(['merge-base', one, other], { okCodes: [0, 1, 128] })
  if (code === 0) return stdout.toString().trim()
  throw new UserError(
    `the two ends of ${text} have no commit in common`,
    'Compare them as they are with a..b. In a clone of part of the history: git fetch --unshallow',
  )
}

const MAIN_BRANCHES = [
  'refs/remotes/origin/HEAD',
  'refs/remotes/origin/main',
  'refs/remotes/origin/master',
  'refs/heads/main',
  'refs/heads/master',
]

/** The main branch: the one that the remote names, else one with a usual name. */
export async function mainBranch(git: Git): Promise<string> {
  const args = ['for-each-ref', '--format=%(refname)', ...MAIN_BRANCHES]
  const found = new Set((await git.run(args)).stdout.toString().split('\n'))
  const main = MAIN_BRANCHES.find((ref) => found.has(ref))
  return main?.replace(/^refs\/(?:heads|remotes)\//, '').replace(/\/HEAD$/, '') ?? 'HEAD'
}
