import type { Emit } from '../attempt/ports.ts'
import type { Happening } from '../events/event.ts'
import type { Git } from '../git/git.ts'
import type { Base } from '../git/head.ts'
import type { Repository } from '../git/repository.ts'
import type { Control } from '../run/control.ts'
import { makeRunFolder, runFolder } from '../run/folder.ts'
import { Ledger } from '../run/ledger.ts'
import type { RunPorts } from '../run/ports.ts'
import { makeReady } from '../run/ready.ts'
import { portBase, strayText } from '../run/together.ts'
import { takeSlots, type Slot } from '../worker/slots.ts'
import { refuseUnlendable, type Lender } from '../workspace/clone.ts'
import type { Furniture } from '../workspace/furnish.ts'
import { openWorkspace } from '../workspace/open.ts'
import { OwnWorkspace, workspacesFolder } from '../workspace/own.ts'
import type { Workspace } from '../workspace/port.ts'
import type { Agents } from './agents.ts'
import { openProject, type Place, type Project, type Where } from './project.ts'
import { openWithCommit } from './repository.ts'
import { NO_QUESTIONS } from './questions.ts'
import { runPorts } from './run-ports.ts'
import type { Sandbox } from './sandbox.ts'
import { furnitureOf } from './workspaces.ts'
import type { World } from './world.ts'

/** A checkout whose objects the workspaces borrow. */
interface Checkout {
  readonly where: Where
  readonly root: string
  readonly env: World['env']
  readonly git: Git
  readonly repository: Repository
  readonly home: Workspace
  readonly lender: Lender
  readonly folder: string
}

/** Workspaces of a checkout that belong to this process as long as it lives. */
export interface CommitWorkspaces {
  /** Runs at the top of the checkout. */
  readonly git: Git
  readonly workspaces: readonly CommitWorkspace[]
  readonly release: () => void
}

/** Takes this many workspaces, apart from those of a running run and of other workers. */
export async function takeWorkspaces(
  world: World,
  { where, place, count }: { readonly where: Where; readonly place: Place; readonly count: number },
): Promise<CommitWorkspaces> {
  const { root, config } = place
  const { git, repository } = await openWithCommit(world, root)
  const home = openWorkspace(git, repository, root)
  const lender: Lender = { git, repository, prefix: home.prefix }
  await refuseUnlendable(lender)
  const { dir } = config.workspace
  const folder = workspacesFolder({ root, top: repository.root }, { dir, env: world.env })
  makeRunFolder(runFolder(root, repository))
  const slots = await takeSlots(folder, { count, pid: world.pid, now: world.now() })
  const checkout: Checkout = { where, root, env: world.env, git, repository, home, lender, folder }
  return {
    git,
    workspaces: slots.map((slot) => new CommitWorkspace(checkout, slot)),
    release() {
      for (const slot of slots) slot.release()
    },
  }
}

/** A workspace at a commit, with the project as it is there. */
export interface Furnished {
  readonly own: OwnWorkspace
  readonly project: Project
}

const BARE: Furniture = { prepare: null, locks: [], copy: [], link: [] }

/** A workspace of ralph's own in which a commit decides everything: its gates, and what they need. */
export class CommitWorkspace {
  readonly #checkout: Checkout
  readonly #slot: Slot
  /** What the workspace has so far: the next commit's configuration may differ. */
  #furniture: Furniture = BARE

  constructor(checkout: Checkout, slot: Slot) {
    this.#checkout = checkout
    this.#slot = slot
  }

  get number(): number {
    return this.#slot.number
  }

  /** Brings it to a commit. */
  async bring(base: Base, emit: Emit<Happening>): Promise<Furnished> {
    const { lender, home, folder, env, where } = this.#checkout
    for (;;) {
      const furniture = this.#furniture
      const own = new OwnWorkspace(this.number, {
        lender,
        home,
        folder,
        furniture,
        env,
        checkpoint: () => undefined,
      })
      for (const ref of await own.bring(base)) emit({ type: 'warning', message: strayText(own.number, ref) })
      const project = await openProject({ cwd: own.root, dir: where.dir })
      this.#furniture = furnitureOf(own.root, project.config.workspace)
      if (JSON.stringify(furniture) === JSON.stringify(this.#furniture)) return { own, project }
    }
  }

  /** Does the work there after installing its packages; returns why that failed, if it did. */
  async within<T>(
    { own, project }: Furnished,
    {
      world,
      base,
      agents,
      sandbox,
      control,
      emit,
    }: {
      readonly world: World
      readonly base: Base
      readonly agents: Agents
      readonly sandbox: Sandbox
      readonly control: Control
      readonly emit: Emit<Happening>
    },
    work: (ports: RunPorts) => Promise<T>,
  ): Promise<T | { readonly problem: string }> {
    const outer = await runPorts(
      world,
      { ...project, root: this.#checkout.root },
      { agents, questions: NO_QUESTIONS, sandbox, control, furnishedAs: own.root },
    )
    const ports: RunPorts = {
      ...outer,
      ...(await outer.workspaces.portsIn(own)),
      workspaces: { ...outer.workspaces, furniture: this.#furniture },
      workspace: own.workspace,
      source: await outer.workspaces.sourceIn(own),
      warnings: [],
      env: {
        ...outer.env,
        RALPH_WORKSPACE: String(own.number),
        RALPH_PORT_BASE: String(portBase(own.number)),
      },
    }
    const forget = this.#slot.follow(ports)
    try {
      const problem = await makeReady({ ports, ledger: new Ledger([]), emit }, own, base)
      return problem === null ? await work(ports) : { problem }
    } finally {
      forget()
    }
  }
}
