import { UserError } from '../../base/errors.ts'
import { oneAtATime } from '../../base/mutex.ts'
import { fewOf } from '../../base/text.ts'
import type { Base } from '../../git/head.ts'
import type { Branch } from '../slot/branch.ts'
import type { Remote } from './remote.ts'

/** A branch that is shared with a remote: a landing is pushed first, and lands on what others have pushed. */
export function sharedBranch(own: Branch, remote: Remote): Branch {
  const branch = own.name ?? ''
  const there = `${remote.name}/${branch}`
  /** The remote branch's commit, if it is known for certain. */
  let known: string | null = null

  const push = async (commit: string): Promise<'pushed' | 'overtaken'> => {
    if (commit === known) return 'pushed'
    const result = await remote.pushBranch(branch, commit)
    if (result.kind === 'refused')
      throw new UserError(
        `${remote.name} does not take ${branch}: ${result.reason}`,
        'What has passed is kept, and the next ralph run lands it: see that you may push there, or name another branch with --branch.',
      )
    if (result.kind === 'pushed') known = commit
    return result.kind
  }

  const follow = async (from: string, to: string): Promise<void> => {
    const moved = await own.publish(from, to)
    if (moved.kind === 'moved') return
    const why =
      moved.kind === 'held' ? `: ${[moved.reason, fewOf(moved.paths)].filter(Boolean).join(': ')}` : ''
    throw new UserError(
      `${there} has moved on to ${to.slice(0, 10)}, and ${branch} here cannot follow${why}`,
      `Commit or stash what is in the way, then: git pull --ff-only ${remote.name} ${branch}`,
    )
  }

  const catchUp = async (): Promise<void> => {
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const [theirs, { head: ours }] = [await remote.fetchBranch(branch), await own.tip()]
      known = theirs
      if (theirs === ours) return
      if (theirs === null || (await remote.isAncestor(theirs, ours))) {
        if ((await push(ours)) === 'pushed') return
        continue
      }
      if (await remote.isAncestor(ours, theirs)) return follow(ours, theirs)
      throw new UserError(
        `${branch} here and ${there} have gone apart`,
        `Bring them together first: git pull --rebase ${remote.name} ${branch}`,
      )
    }
    throw new UserError(`${there} moves on all the time`, 'Try again once others push less often.')
  }

  const inTurn = oneAtATime()
  const pushTip = async (): Promise<void> => {
    if ((await own.tip()).head !== known) await catchUp()
  }
  /** Workers fetch the base of their jobs: so commits that a person made here are pushed first. */
  const tip = async (): Promise<Base> => {
    const base = await own.tip()
    if (base.head === known) return base
    await inTurn(pushTip)
    return own.tip()
  }

  return {
    ...own,
    tip,
    async publish(from, to) {
      const held = await own.obstacle(from, to)
      if (held) return held
      if ((await push(to)) === 'overtaken') {
        await catchUp()
        return { kind: 'overtaken' }
      }
      const moved = await own.publish(from, to)
      if (moved.kind === 'moved') return moved
      // Only a change between two of these steps can cause that.
      throw new UserError(
        `${to.slice(0, 10)} is on ${there}, and ${branch} here could not follow`,
        `Nothing is lost. Bring them together: git pull --rebase ${remote.name} ${branch}`,
      )
    },
  }
}

/** How often others may push just before this does. */
const MOST_ROUNDS = 5
