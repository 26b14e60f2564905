import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { UserError } from '../base/errors.ts'
import { commitsBetween, isAncestor, tipOf, type Base, type LaterCommit } from '../git/head.ts'
import { mergeTrees, type Merged } from '../git/merge.ts'
import { findRepository } from '../git/repository.ts'
import { finishMove, inTheWay, moveWithCheckout, type Checkout, type Move, type Moved } from './follow.ts'
import type { OwnWorkspace } from './own.ts'
import type { Change, Workspace } from './port.ts'

/** The branch that candidates land on: one at a time, in a workspace where no job works, and the checkout follows. */
export interface Trunk {
  readonly branch: string
  /** Where the branch is now; a branch that is gone throws. */
  tip(): Promise<Base>
  /** The workspace of landings at that base. */
  at(base: Base): Promise<Workspace>
  /** Takes that workspace from its base to a tree; gives what that changes, null where something else is in it. */
  put(base: Base, tree: string): Promise<readonly Change[] | null>
  /** What comes of a commit put onto a base. */
  merge(base: Base, commit: string): Promise<Merged>
  /** The commits that have come on top of one. */
  landedSince(commit: string, base: Base): Promise<readonly LaterCommit[]>
  /** Whether the branch still holds a commit. */
  holds(commit: string, base: Base): Promise<boolean>
  /** What keeps the checkout from following a move to that commit or tree; null where nothing does. */
  obstacle(base: Base, to: string): Promise<Extract<Moved, { kind: 'held' }> | null>
  /** Moves the branch to a commit made in the workspace of landings, if it is still where that was made. */
  publish(from: string, to: string): Promise<Moved>
  /** Moves the branch forward to a commit that somebody else has made; the checkout follows. */
  forward(from: string, to: string): Promise<Moved>
  /** Whether nothing of the person's stands at these paths of the checkout any more. */
  isFree(paths: readonly string[]): Promise<boolean>
  /** Finishes what a run that died has noted. */
  finish(move: Move): Promise<void>
}

/** Opens the trunk of a checkout; `note` keeps what is to be finished after a kill. */
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
    // What this run itself has put on top of each other it need not ask for.
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

/** The commit of a branch that is a file of its own, as one is that was just moved: to read it takes no process. */
function looseTip({ commonDir }: Checkout['repository'], branch: string): string | null {
  try {
    const text = readFileSync(join(commonDir, 'refs/heads', branch), 'utf8').trim()
    return /^[0-9a-f]{40,64}$/.test(text) ? text : null
  } catch {
    return null
  }
}

/** The worktree that is on the branch; the checkout itself where none is, or where there is only that. */
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
