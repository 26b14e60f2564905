import { hostname } from 'node:os'
import { attempt, type Result } from '../attempt/attempt.ts'
import { jobTaskOf, type Job } from '../attempt/job.ts'
import type { Emit } from '../attempt/ports.ts'
import { UserError } from '../base/errors.ts'
import type { Happening } from '../events/event.ts'
import type { Git } from '../git/git.ts'
import { attemptRef, candidateRef } from '../git/record.ts'
import type { Repository } from '../git/repository.ts'
import { sleep } from '../process/sleep.ts'
import type { Control } from '../run/control.ts'
import { makeRunFolder, runFolder } from '../run/folder.ts'
import { attemptPorts } from '../run/job-ports.ts'
import { Ledger } from '../run/ledger.ts'
import type { RunPorts } from '../run/ports.ts'
import { makeReady } from '../run/ready.ts'
import { isLockFile, portBase, strayText } from '../run/together.ts'
import type { Queue } from '../worker/queue.ts'
import { Remote } from '../worker/remote.ts'
import { takeSlots, type Slot } from '../worker/slots.ts'
import { work, type WorkerEnd } from '../worker/worker.ts'
import { refuseUnlendable, type Lender } from '../workspace/clone.ts'
import type { Furniture } from '../workspace/furnish.ts'
import { openWorkspace } from '../workspace/open.ts'
import { OwnWorkspace, workspacesFolder } from '../workspace/own.ts'
import type { Workspace } from '../workspace/port.ts'
import { Agents } from './agents.ts'
import { openProject, type Place, type Where } from './project.ts'
import { meantQueue, openWorkersQueue, VERSION } from './queue.ts'
import { openWithCommit } from './repository.ts'
import { NO_WISH, runOptions } from './run-options.ts'
import { NO_QUESTIONS, runPorts } from './run-ports.ts'
import { openSandbox, sandboxMode } from './sandbox.ts'
import { furnitureOf } from './workspaces.ts'
import { withoutQueue, type World } from './world.ts'

/** What the command line says of a worker; null where it leaves that to others. */
export interface WorkerWish {
  readonly queue: string | null
  readonly remote: string | null
  readonly jobs: number | null
  readonly once: boolean
  readonly labels: readonly string[]
}

/** Does jobs of the run that has a queue, in workspaces of this clone; throws what keeps it from that. */
export async function startWorker(
  world: World,
  { where, place, wish }: { readonly where: Where; readonly place: Place; readonly wish: WorkerWish },
  emit: Emit<Happening>,
): Promise<Exclude<WorkerEnd, { kind: 'unable' }>> {
  const { root, config } = place
  const url = meantQueue(wish.queue, world, place)
  const { git, repository } = await openWithCommit(world, root)
  const remote = new Remote(git, wish.remote ?? config.queue.remote)
  await remote.check()
  const home = openWorkspace(git, repository, root)
  const lender: Lender = { git, repository, prefix: home.prefix }
  await refuseUnlendable(lender)
  const folder = workspacesFolder(
    { root, top: repository.root },
    { dir: config.workspace.dir, env: world.env },
  )
  makeRunFolder(runFolder(root, repository))
  const places = wish.once ? 1 : (wish.jobs ?? config.jobs)
  const slots = await takeSlots(folder, { count: places, pid: world.pid, now: world.now() })
  let queue: Queue | null = null
  try {
    const { workerTimeoutSeconds: patienceSeconds, heartbeatSeconds } = config.queue
    queue = await patiently(() => openWorkersQueue(url, place), { world, patienceSeconds, emit })
    const clone: Clone = {
      world: withoutQueue(world),
      where,
      root,
      git,
      repository,
      home,
      lender,
      folder,
      remote,
    }
    const rooms = slots.map((slot) => new WorkerRoom(clone, slot))
    const name = `${hostname().split('.')[0]}-${world.pid}`
    const options = { name, places, labels: wish.labels, once: wish.once, patienceSeconds, heartbeatSeconds }
    const { pid, now, signal, urgent } = world
    const make: Parameters<typeof work>[1]['make'] = (job, at) => rooms[at.place]!.make(job, at)
    const end = await work(options, { queue, remote, make, version: VERSION, pid, now, signal, urgent }, emit)
    if (end.kind === 'unable') throw end.error
    return end
  } finally {
    for (const slot of slots) slot.release()
    await queue?.close().catch(() => undefined)
  }
}

/** A run, and with it an embedded queue, may start a little later than its workers. */
async function patiently(
  open: () => Promise<Queue>,
  {
    world,
    patienceSeconds,
    emit,
  }: { readonly world: World; readonly patienceSeconds: number; readonly emit: Emit<Happening> },
): Promise<Queue> {
  const until = world.now().getTime() + patienceSeconds * 1000
  for (let isFirst = true; ; isFirst = false) {
    try {
      return await open()
    } catch (error) {
      const mayCome = error instanceof UserError && /ECONNREFUSED|no run here has had/.test(error.message)
      if (!mayCome || world.signal.aborted || world.now().getTime() > until) throw error
      if (isFirst) emit({ type: 'warning', message: `${error.message}; waits for it` })
      await sleep(RETRY_MS, world.signal)
    }
  }
}

const RETRY_MS = 1000

/** What all places of a worker have in common. */
interface Clone {
  readonly world: World
  readonly where: Where
  readonly root: string
  readonly git: Git
  readonly repository: Repository
  readonly home: Workspace
  readonly lender: Lender
  readonly folder: string
  readonly remote: Remote
}

const BARE: Furniture = { prepare: null, locks: [], copy: [], link: [] }

/** A workspace of a worker, in which one job after the other is attempted. */
class WorkerRoom {
  readonly #clone: Clone
  readonly #slot: Slot
  /** What the workspace has got so far: the configuration at the next base may say something else. */
  #furniture: Furniture = BARE

  constructor(clone: Clone, slot: Slot) {
    this.#clone = clone
    this.#slot = slot
  }

  /** Makes the attempt: all that is run stands in the base, and nothing of it in the job. */
  async make(
    job: Job,
    {
      branch,
      control,
      emit,
    }: { readonly branch: string; readonly control: Control; readonly emit: Emit<Happening> },
  ): Promise<Result> {
    const { world } = this.#clone
    await this.#fetch(job, branch)
    const { own, project, furniture } = await this.#bring(job, emit)
    const task = project.tasks.find(({ id, file }) => id === job.task.id && file === job.task.file)
    if (!task) throw new UserError(`${job.task.file} is not there at ${job.base.head.slice(0, 10)}`)
    const mode = sandboxMode(null, { env: world.env, config: project.config })
    const sandbox = await openSandbox(mode, { env: world.env, root: own.root, config: project.config })
    const { name, model } = job.agent
    const wish = { ...NO_WISH, agent: name, model }
    const agents = new Agents(world, wish, { ...project, isCaged: sandbox.state.on })
    const [agent] = await agents.choicesFor(task)
    const options = runOptions(NO_WISH, project)
    const handed = await runPorts(
      world,
      { ...project, root: this.#clone.root },
      { agents, questions: NO_QUESTIONS, sandbox, control, furnishedAs: own.root },
    )
    const ports: RunPorts = {
      ...handed,
      ...(await handed.workspaces.portsIn(own)),
      workspaces: { ...handed.workspaces, furniture },
      workspace: own.workspace,
      source: await handed.workspaces.sourceIn(own),
      warnings: [],
      env: {
        ...handed.env,
        RALPH_WORKSPACE: String(own.number),
        RALPH_PORT_BASE: String(portBase(own.number)),
      },
    }
    const forget = this.#slot.follow(ports)
    try {
      const ledger = new Ledger([])
      const problem = await makeReady({ ports, ledger, emit }, own, job.base)
      if (problem !== null) throw new UserError(problem)
      await this.#goOn(own, job)
      const gatesChanged = project.config.gatesChanged
      const mine: Job = { ...job, task: jobTaskOf(task), agent, gates: options.gates, gatesChanged }
      const result = await attempt(mine, attemptPorts(ports, task.id), emit)
      if (result.kind === 'passed') own.keeps(result.candidate.kept.commit)
      const changed =
        result.kind === 'passed' ? result.candidate.facts.changed : (result.record?.changed ?? [])
      if (changed.some(isLockFile)) await own.prepared(false)
      return result
    } finally {
      forget()
    }
  }

  /** The base, what was tried before, and nothing in the way of what is to be kept. */
  async #fetch(job: Job, branch: string): Promise<void> {
    const { remote } = this.#clone
    const { base, task, attempt: number, token } = job
    if (!(await remote.bringBase(branch, base.head)))
      throw new UserError(
        `${remote.name}/${branch} does not hold ${base.head.slice(0, 10)}, which the job begins from`,
        'Is this a clone of the same repository, and is that its remote?',
      )
    await remote.free([attemptRef(task.id, number), candidateRef(task.id, number, token)])
    if (number > 1) await remote.bringKept(task.id)
  }

  async #bring(job: Job, emit: Emit<Happening>) {
    const { lender, home, folder, world, where } = this.#clone
    for (;;) {
      const plan = {
        lender,
        home,
        folder,
        furniture: this.#furniture,
        env: world.env,
        checkpoint: () => undefined,
      }
      const own = new OwnWorkspace(this.#slot.number, plan)
      for (const ref of await own.bring(job.base))
        emit({ type: 'warning', message: strayText(own.number, ref) })
      const project = await openProject({ cwd: own.root, dir: where.dir })
      const furniture = furnitureOf(own.root, project.config.workspace)
      if (JSON.stringify(furniture) === JSON.stringify(this.#furniture)) return { own, project, furniture }
      this.#furniture = furniture
    }
  }

  /** Begins with what an earlier attempt has left, where the run wants that. */
  async #goOn(own: OwnWorkspace, { from, base }: Job): Promise<void> {
    if (from.kind === 'base') return
    const { inspect, restore } = own.workspace
    const { tree } = await inspect.work(base)
    await restore.tree({ recorded: tree, to: from.commit })
  }
}
