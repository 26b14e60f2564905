import { checkTree } from '../../engine/check.ts'
import { treeOf } from '../../git/tree.ts'
import { Control } from '../../engine/control.ts'
import type { TakenSlot } from '../../engine/workers/slots.ts'
import type { Place, Where } from '../../config/project.ts'
import { runOptions } from './run-options.ts'
import { takeCommitSlots, type CommitSlots } from './taken-slots.ts'
import type { World } from '../../base/world.ts'

/** The result of the gates on a commit. */
export interface CommitCheck {
  readonly commit: string
  /** The names of the gates that passed. */
  readonly passed: readonly string[]
  /** Why it is not green; null if it is. */
  readonly problem: string | null
}

/** Runs on each commit the gates of its own configuration, each commit in a clean room, several at once. */
export async function checkCommits(
  world: World,
  request: {
    readonly where: Where
    readonly place: Place
    readonly commits: readonly { readonly commit: string; readonly id: string }[]
    readonly jobs: number
  },
  onChecked: (check: CommitCheck) => Promise<void>,
): Promise<readonly CommitCheck[]> {
  const { where, place, commits, jobs } = request
  const count = Math.min(jobs, commits.length)
  if (count === 0) return []
  const taken = await takeCommitSlots(world, { where, place, count })
  const control = new Control().obey(world.signal, world.urgent)
  const left = [...commits]
  const checks: CommitCheck[] = []
  const work = async (slot: TakenSlot): Promise<void> => {
    for (let next = left.shift(); next && !control.isStopping; next = left.shift()) {
      const check = await checkCommit(next, slot, { taken, world, control })
      checks.push(check)
      await onChecked(check)
    }
  }
  try {
    await Promise.all(taken.slots.map(work))
    return checks
  } finally {
    taken.release()
  }
}

async function checkCommit(
  { commit, id }: { readonly commit: string; readonly id: string },
  slot: TakenSlot,
  {
    taken,
    world,
    control,
  }: { readonly taken: CommitSlots; readonly world: World; readonly control: Control },
): Promise<CommitCheck> {
  const { project, ports, attempt, end } = await taken.open(slot, commit, { world, control })
  try {
    const { gates } = runOptions({}, project)
    if (gates.length === 0) return { commit, passed: [], problem: 'its configuration has no gates' }
    const tree = await treeOf(ports.home.git, commit)
    const at = { head: commit, branch: null }
    const toCheck = { id, attempt: 0, gates, tree, at, changed: [] }
    const { outcome, passed } = await checkTree(toCheck, attempt, () => undefined)
    return { commit, passed, problem: outcome?.reason ?? null }
  } finally {
    end()
  }
}
