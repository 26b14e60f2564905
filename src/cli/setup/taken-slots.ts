import { join } from 'node:path'
import type { Control } from '../../engine/control.ts'
import { makeRunFolder, runFolder } from '../../engine/folder.ts'
import type { AttemptPorts, RunPorts } from '../../engine/ports.ts'
import { attemptPorts } from '../../engine/run-parts.ts'
import { openHome, refuseUnusable, type Home } from '../../engine/slot/home.ts'
import { takeSlots, type TakenSlot } from '../../engine/workers/slots.ts'
import type { Git } from '../../git/git.ts'
import { Agents } from '../../agents/agents.ts'
import type { Place, Project, Where } from '../../config/project.ts'
import { projectAt } from './read-from-branch.ts'
import { openWithCommit } from '../../git/open-repository.ts'
import type { RunRequest } from './run-options.ts'
import { runPorts } from './run-ports.ts'
import { openSandbox } from './sandbox.ts'
import { slotsFolder } from './slots.ts'
import type { World } from '../../base/world.ts'

/** Slots of a checkout that belong to this process as long as it lives, apart from those of a running run. */
export interface CommitSlots {
  /** Runs at the top of the checkout. */
  readonly git: Git
  readonly slots: readonly TakenSlot[]
  /** Opens a slot for a commit, which decides everything in it: its configuration, its gates, and what they need. */
  readonly open: (slot: TakenSlot, commit: string, how: CommitWork) => Promise<AtCommit>
  readonly release: () => void
}

/** How work at a commit is controlled. */
interface CommitWork {
  readonly world: World
  readonly control: Control
  readonly request?: RunRequest
}

/** A slot, and the project as a commit has it. */
export interface AtCommit {
  readonly project: Project
  readonly ports: RunPorts
  readonly attempt: AttemptPorts
  readonly agents: Agents
  /** Ends what the slot notes of the processes that are started. */
  readonly end: () => void
}

/** Takes this many slots. */
export async function takeCommitSlots(
  world: World,
  { where, place, count }: { readonly where: Where; readonly place: Place; readonly count: number },
): Promise<CommitSlots> {
  const { root } = place
  const { git, repository } = await openWithCommit(world, root)
  const home = await openHome(git, repository, root)
  await refuseUnusable(home)
  const folder = slotsFolder(place, repository.root, world.env)
  makeRunFolder(runFolder(root, repository))
  const slots = await takeSlots(folder, { count, pid: world.pid, now: world.now() })
  return {
    git,
    slots,
    open: (slot, commit, how) => openAt(slot, commit, { ...how, home, where, root, folder }),
    release() {
      for (const slot of slots) slot.release()
    },
  }
}

async function openAt(
  taken: TakenSlot,
  commit: string,
  {
    world: outer,
    control,
    request = {},
    home,
    where,
    root,
    folder,
  }: CommitWork & {
    readonly home: Home
    readonly where: Where
    readonly root: string
    readonly folder: string
  },
): Promise<AtCommit> {
  // Each slot would listen for Ctrl-C itself: the control does so for all.
  const world: World = { ...outer, signal: control.signal, urgent: control.killSignal }
  const project = { ...(await projectAt(home, join(folder, String(taken.number)), commit, where)), root }
  const sandbox = await openSandbox(world.env, project)
  const agents = new Agents(world, request, { ...project, isCaged: sandbox.state.on })
  const ports = await runPorts(world, project, { agents, ask: null, sandbox, control })
  const end = taken.follow(ports)
  const slot = ports.slots.get(taken.number)
  const attempt = attemptPorts(
    { ports },
    {
      slot,
      work: await ports.slots.programs(slot, slot.work),
      check: await ports.slots.programs(slot, slot.check),
      note: NO_NOTE,
      emit: () => undefined,
    },
  )
  await ports.source.at(commit)
  return { project, ports, attempt, agents, end }
}

/** Nobody goes on with work at a commit after a kill: it is done again. */
const NO_NOTE = {
  begin: () => undefined,
  update: () => undefined,
  spend: () => undefined,
  clear: () => undefined,
}
