import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { namesIn } from '../../base/folder.ts'
import { textAt } from '../../base/read-file.ts'
import { UserError } from '../../base/errors.ts'
import { isAncestor, objectAt, type Base } from '../../git/head.ts'
import { readLog, type LogEntry } from '../../git/log.ts'
import { releaseDeadRefs } from '../../git/refs.ts'
import { findRepository } from '../../git/repository.ts'
import {
  finishMove,
  inTheWay,
  moveWithCheckout,
  releaseDeadLock,
  type AsItIs,
  type Checkout,
  type Move,
  type Moved,
} from './follow.ts'
import type { Home } from './home.ts'

/** What keeps a landing from the branch: the person's uncommitted work, or what they have begun. */
export type Held = Extract<Moved, { kind: 'held' }>

/** The branch that candidates land on, and the worktree that follows it. */
export interface Branch {
  /** Null for a detached HEAD. */
  readonly name: string | null
  /** The branch's commit now; throws if the branch is gone. */
  tip(): Promise<Base>
  /** The commits on top of a commit. */
  landedSince(commit: string, base: Base): Promise<readonly LogEntry[]>
  /** Whether the branch still has a commit in its history. */
  holds(commit: string, base: Base): Promise<boolean>
  /** What keeps the worktree from following a move to that commit or tree; null if nothing does. */
  obstacle(from: string, to: string): Promise<Held | null>
  /** Moves the branch, if it has not moved since; the worktree follows. */
  publish(from: string, to: string, asItIs?: AsItIs): Promise<Moved>
  /** Whether nothing of the person's is at these paths any more. */
  isFree(paths: readonly string[]): Promise<boolean>
}

/** Opens a branch of the checkout; `note` stores a move that must be finished after a kill. */
export function openBranch(home: Home, name: string | null, note: (move: Move | null) => void): Branch {
  const { git } = home
  const { commonDir } = home.repository
  /** The commits of this run are on top of each other: git need not be asked. */
  const line = new Set<string>()
  const followers = async (): Promise<Checkout> => whereItIs(home, name)
  return {
    name,
    async tip() {
      const head =
        looseTip(home, name) ?? (await objectAt(git, name === null ? 'HEAD' : `refs/heads/${name}`))
      if (head !== null) return { head, branch: name }
      throw new UserError(
        `the branch ${name ?? 'HEAD'} is gone`,
        `Make it again (git branch ${name ?? 'main'} …): what has passed is kept, and the next ralph run lands it.`,
      )
    },
    landedSince: (commit, base) =>
      readLog(git, { revisions: [`${commit}..${base.head}`], options: ['--first-parent'] }),
    holds: async (commit, base) =>
      (line.has(commit) && line.has(base.head)) || isAncestor(git, commit, base.head),
    async obstacle(from, to) {
      const busy = name === null ? null : operationOn(commonDir, name)
      if (busy !== null) return { kind: 'held', paths: [], reason: busy }
      const held = await inTheWay(await followers(), { branch: name, from, to })
      return held?.kind === 'held' ? held : null
    },
    async publish(from, to, asItIs) {
      const busy = name === null ? null : operationOn(commonDir, name)
      if (busy !== null) return { kind: 'held', paths: [], reason: busy }
      const moved = await moveWithCheckout(await followers(), { branch: name, from, to }, note, asItIs)
      if (moved.kind === 'moved') {
        if (!line.has(from)) line.clear()
        line.add(from).add(to)
      }
      return moved
    },
    async isFree(paths) {
      if (paths.length === 0) return name === null || operationOn(commonDir, name) === null
      const { git: door } = await followers()
      const specs = paths.map((path) => `:(literal)${path}`)
      const args = ['status', '--porcelain', '--ignored', '-z', '--', ...specs]
      return (await door.run(args, { env: { GIT_OPTIONAL_LOCKS: '0' } })).stdout.length === 0
    },
  }
}

/** Finishes the move that a dead run had begun, on a branch that may not be this run's: it has moved, or it has not. */
export async function finishBranchMove(
  home: Home,
  { branch, move }: { branch: string | null; move: Move | null },
): Promise<void> {
  const checkout = await whereItIs(home, move ? move.branch : branch)
  releaseDeadLock(checkout.repository)
  await releaseDeadRefs(checkout.repository, [branch, move?.branch ?? null])
  if (move) await finishMove(checkout, move)
}

/** The commit of a branch stored in its own file, as after a recent move: reading it needs no process. */
function looseTip({ repository }: Home, name: string | null): string | null {
  const file =
    name === null ? join(repository.gitDir, 'HEAD') : join(repository.commonDir, 'refs/heads', name)
  const text = textAt(file).trim()
  return /^[0-9a-f]{40,64}$/.test(text) ? text : null
}

/** The worktree that is on the branch; the checkout itself if none is, or if it is the only one. */
async function whereItIs({ git, repository }: Home, name: string | null): Promise<Checkout> {
  const own = { git, repository }
  if (name === null || !existsSync(join(repository.commonDir, 'worktrees'))) return own
  const { stdout } = await git.run(['worktree', 'list', '--porcelain', '-z'])
  let top = ''
  for (const line of stdout.toString().split('\0')) {
    if (line.startsWith('worktree ')) top = line.slice('worktree '.length)
    if (line !== `branch refs/heads/${name}` || top === repository.root || !existsSync(top)) continue
    const door = git.at(top)
    const found = await findRepository(door)
    if (found) return { git: door, repository: found }
  }
  return own
}

/**
 * What somebody does with the branch in any worktree, and has not finished: to move it meanwhile would break that. A
 * merge on the branch itself shows in the worktree that follows.
 */
function operationOn(commonDir: string, branch: string): string | null {
  const worktrees = join(commonDir, 'worktrees')
  for (const dir of [commonDir, ...namesIn(worktrees).map((name) => join(worktrees, name))]) {
    const rebased = ['rebase-merge', 'rebase-apply'].map((name) =>
      textAt(join(dir, name, 'head-name')).trim(),
    )
    if (rebased.includes(`refs/heads/${branch}`)) return `a rebase of ${branch} is under way`
    if (textAt(join(dir, 'BISECT_START')).trim() === branch) return `a bisect of ${branch} is under way`
  }
  return null
}
