import { join } from 'node:path'
import { checkTree } from '../../engine/check.ts'
import { Control } from '../../engine/control.ts'
import { makeRunFolder, runFolder } from '../../engine/folder.ts'
import { attemptPorts } from '../../engine/run-parts.ts'
import { openHome, refuseUnusable } from '../../engine/slot/home.ts'
import { takeSlots, type TakenSlot } from '../../engine/workers/slots.ts'
import type { Place, Where } from '../../config/project.ts'
import { projectAt } from './read-from-branch.ts'
import { openWithCommit } from '../../git/open-repository.ts'
import { treeOf } from '../../git/tree.ts'
import { runOptions, type RunRequest, openAgents, runPorts } from './start-run.ts'
import { slotsFolder } from './slots.ts'
import type { World } from '../../base/world.ts'

/** Slots of a checkout that belong to this process as long as it lives, apart from those of a running run. */
export type CommitSlots = Awaited<ReturnType<typeof takeCommitSlots>>

/** Takes this many slots. */
export async function takeCommitSlots(
  world: World,
  { where, place, count }: { where: Where; place: Place; count: number },
) {
  const { root } = place
  const { git, repository } = await openWithCommit(world, root)
  const home = await openHome(git, repository, root)
  await refuseUnusable(home)
  const folder = slotsFolder(place, repository.root, world.env)
  makeRunFolder(runFolder(root, repository))
  const slots = await takeSlots(folder, { count, pid: world.pid, now: world.now() })
  return {
    /** Runs at the top of the checkout. */
    git,
    slots,
    /** Opens a slot for a commit, which decides everything in it: its configuration, its gates, and what they need. */
    async open(taken: TakenSlot, commit: string, control: Control, request: RunRequest = {}) {
      // Each slot would listen for Ctrl-C itself: the control does so for all.
      const own: World = { ...world, signal: control.signal, urgent: control.killSignal }
      const { number } = taken
      const project = { ...(await projectAt(home, join(folder, String(number)), commit, where)), root }
      const { agents, sandbox } = await openAgents(own, project, request)
      const ports = await runPorts(own, project, { agents, sandbox, control })
      const end = taken.follow(ports)
      const slot = ports.slots.get(number)
      const attempt = attemptPorts(
        { ports },
        {
          slot,
          work: await ports.slots.programs(slot, slot.work),
          check: await ports.slots.programs(slot, slot.check),
        },
      )
      await ports.source.at(commit)
      /** `end` ends what the slot notes of the processes that are started. */
      return { project, attempt, agents, end }
    },
    release() {
      for (const slot of slots) slot.release()
    },
  }
}

/** Runs on each commit the gates of its own configuration, each commit in a clean room, several at once. */
export async function checkCommits(
  world: World,
  {
    where,
    place,
    commits,
    jobs,
  }: { where: Where; place: Place; commits: ReadonlyMap<string, string>; jobs: number },
  onChecked: (check: CommitCheck) => void,
): Promise<ReadonlyMap<string, CommitCheck>> {
  const checks = new Map<string, CommitCheck>()
  const count = Math.min(jobs, commits.size)
  if (count === 0) return checks
  const taken = await takeCommitSlots(world, { where, place, count })
  const control = new Control().obey(world.signal, world.urgent)
  const left = [...commits]
  const work = async (slot: TakenSlot): Promise<void> => {
    for (let next = left.shift(); next && !control.isStopping; next = left.shift()) {
      const [commit, id] = next
      const check = await checkCommit(taken, slot, { commit, id, control })
      checks.set(commit, check)
      onChecked(check)
    }
  }
  try {
    await Promise.all(taken.slots.map(work))
    return checks
  } finally {
    taken.release()
  }
}

/** The result of the gates on a commit. */
type CommitCheck = Awaited<ReturnType<typeof checkCommit>>

/** The names of the gates that passed, and why the commit is not green; null if it is. */
async function checkCommit(
  taken: CommitSlots,
  slot: TakenSlot,
  { commit, id, control }: { commit: string; id: string; control: Control },
) {
  const { project, attempt, end } = await taken.open(slot, commit, control)
  try {
    const { gates } = runOptions({}, project)
    if (gates.length === 0) return { commit, passed: [], problem: 'its configuration has no gates' }
    const tree = await treeOf(attempt.home.git, commit)
    const at = { head: commit, branch: null }
    const toCheck = { id, attempt: 0, gates, tree, at, changed: [], scope: null }
    const { outcome, passed } = await checkTree(toCheck, attempt, () => undefined)
    return { commit, passed, problem: outcome?.reason ?? null }
  } finally {
    end()
  }
}
