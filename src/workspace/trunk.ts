import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { UserError } from '../base/errors.ts'
import { commitsBetween, isAncestor, tipOf, type Base, type LaterCommit } from '../git/head.ts'
import { mergeTrees, type Merged } from '../git/merge.ts'
import { findRepository } from '../git/repository.ts'
import { finishMove, inTheWay, moveWithCheckout, type Checkout, type Move, type Moved } from './follow.ts'
import type { OwnWorkspace } from './own.ts'
import type { Change, Workspace } from './port.ts'

/** The branch that candidates land on: one at a time, in a workspace without a job, and the checkout follows. */
export interface Trunk {
  readonly branch: string
  /** The branch's commit now; throws if the branch is gone. */
  tip(): Promise<Base>
  /** The workspace for landings, at that base. */
  at(base: Base): Promise<Workspace>
  /** Brings that workspace from its base to a tree; returns the changes, or null if something else is in it. */
  put(base: Base, tree: string): Promise<readonly Change[] | null>
  /** Merges a commit onto a base, and returns the result. */
  merge(base: Base, commit: string): Promise<Merged>
  /** The commits on top of a commit. */
  landedSince(commit: string, base: Base): Promise<readonly LaterCommit[]>
  /** Whether the branch still holds a commit. */
  holds(commit: string, base: Base): Promise<boolean>
  /** What keeps the checkout from following a move to that commit or tree; null if nothing does. */
  obstacle(base: Base, to: string): Promise<Extract<Moved, { kind: 'held' }> | null>
  /** Moves the branch to a commit made in the workspace for landings, if the branch has not moved since. */
  publish(from: string, to: string): Promise<Moved>
  /** Moves the branch forward to a commit that somebody else has made; the checkout follows. */
  forward(from: string, to: string): Promise<Moved>
  /** Whether nothing of the person's is at these paths of the checkout any more. */
  isFree(paths: readonly string[]): Promise<boolean>
  /** Finishes a move that a dead run noted. */
  finish(move: Move): Promise<void>
}

/** Opens the trunk of a checkout; `note` stores what must be finished after a kill. */
export function openTrunk(
  checkout: Checkout,
  landing: OwnWorkspace,
  options: {
    readonly branch: string
    readonly note: (move: Move | null) => void
  },
): Trunk {
  const { branch, note } = options
  const { git } = checkout
  const line = new Set<string>()
  const moveTo = (from: string, to: string): Move => ({ branch, from, to })
  return {
    branch,
    async tip() {
      const head = looseTip(checkout.repository, branch) ?? (await tipOf(git, branch))
      if (head === null)
        throw new UserError(
          `the branch ${branch} is gone`,
          `Make it again (git branch ${branch} …): what has passed is kept, and the next ralph run lands it.`,
        )
      return { head, branch }
    },
    async at(base) {
      await landing.bring(base)
      landing.used()
      return landing.workspace
    },
    put: (base, tree) => landing.put(base, tree),
    merge: (base, commit) => mergeTrees(landing.git, base.head, commit),
    landedSince: (commit, base) => commitsBetween(git, commit, base.head, ['--first-parent']),
    // The run's own commits are on top of each other; no need to ask git.
    holds: async (commit, base) =>
      (line.has(commit) && line.has(base.head)) || isAncestor(git, commit, base.head),
    async obstacle(base, to) {
      const held = await inTheWay(await whereItIs(checkout, branch), moveTo(base.head, to))
      return held?.kind === 'held' ? held : null
    },
    async isFree(paths) {
      const { git: door } = await whereItIs(checkout, branch)
      const args = [
        'status',
        '--porcelain',
        '--ignored',
        '-z',
        '--',
        ...paths.map((path) => `:(literal)${path}`),
      ]
      return (await door.run(args, { env: { GIT_OPTIONAL_LOCKS: '0' } })).stdout.length === 0
    },
    async publish(from, to) {
      const moved = await moveWithCheckout(await whereItIs(checkout, branch), moveTo(from, to), note)
      if (moved.kind === 'moved') {
        landing.landed(to)
        if (!line.has(from)) line.clear()
        line.add(from).add(to)
      }
      return moved
    },
    forward: async (from, to) => moveWithCheckout(await whereItIs(checkout, branch), moveTo(from, to), note),
    async finish(move) {
      await finishMove(await whereItIs(checkout, move.branch), move)
      note(null)
    },
  }
}

/** The commit of a branch stored in its own file, as after a recent move: reading it needs no process. */
function looseTip({ commonDir }: Checkout['repository'], branch: string): string | null {
  try {
    const text = readFileSync(join(commonDir, 'refs/heads', branch), 'utf8').trim()
    return /^[0-9a-f]{40,64}$/.test(text) ? text : null
  } catch {
    return null
  }
}

/** The worktree that is on the branch; the checkout itself if none is, or if it is the only one. */
async function whereItIs(checkout: Checkout, branch: string): Promise<Checkout> {
  if (!existsSync(join(checkout.repository.commonDir, 'worktrees'))) return checkout
  const { stdout } = await checkout.git.run(['worktree', 'list', '--porcelain', '-z'])
  let top = ''
  for (const line of stdout.toString().split('\0')) {
    if (line.startsWith('worktree ')) top = line.slice('worktree '.length)
    if (line !== `branch refs/heads/${branch}` || top === checkout.repository.root || !existsSync(top))
      continue
    const git = checkout.git.at(top)
    const repository = await findRepository(git)
    if (repository) return { git, repository }
  }
  return checkout
}
