import { hostname } from 'node:os'
import { attempt, type Result } from '../attempt/attempt.ts'
import { jobTaskOf, type Job } from '../attempt/job.ts'
import type { Emit } from '../attempt/ports.ts'
import { UserError } from '../base/errors.ts'
import type { Happening } from '../events/event.ts'
import { attemptRef, candidateRef } from '../git/record.ts'
import { sleep } from '../process/sleep.ts'
import { attemptPorts } from '../run/job-ports.ts'
import { isLockFile } from '../run/together.ts'
import type { Queue } from '../worker/queue.ts'
import { Remote } from '../worker/remote.ts'
import { work, type WorkerEnd, type WorkerPorts } from '../worker/worker.ts'
import type { OwnWorkspace } from '../workspace/own.ts'
import { Agents } from './agents.ts'
import type { Place, Where } from './project.ts'
import { meantQueue, openWorkersQueue, VERSION } from './queue.ts'
import { takeWorkspaces, type CommitWorkspace } from './commit-workspaces.ts'
import { NO_WISH, runOptions } from './run-options.ts'
import { openSandbox, sandboxMode } from './sandbox.ts'
import { withoutQueue, type World } from './world.ts'

/** The command line of a worker; null leaves a value to the environment or the configuration. */
export interface WorkerWish {
  readonly queue: string | null
  readonly remote: string | null
  readonly jobs: number | null
  readonly once: boolean
  readonly labels: readonly string[]
}

/** Does jobs of the run that has a queue, in workspaces of this clone; throws what prevents that. */
export async function startWorker(
  world: World,
  { where, place, wish }: { readonly where: Where; readonly place: Place; readonly wish: WorkerWish },
  emit: Emit<Happening>,
): Promise<Exclude<WorkerEnd, { kind: 'unable' }>> {
  const { config } = place
  const url = meantQueue(wish.queue, world, place)
  const places = wish.once ? 1 : (wish.jobs ?? config.jobs)
  const { git, workspaces, release } = await takeWorkspaces(world, { where, place, count: places })
  let queue: Queue | null = null
  try {
    const remote = new Remote(git, wish.remote ?? config.queue.remote)
    await remote.check()
    const { workerTimeoutSeconds: patienceSeconds, heartbeatSeconds } = config.queue
    const warn = (message: string): void => emit({ type: 'warning', message })
    remote.waits({ seconds: patienceSeconds, signal: world.urgent, warn })
    queue = await patiently(() => openWorkersQueue(url, place), { world, patienceSeconds, emit })
    const name = `${hostname().split('.')[0]}-${world.pid}`
    const options = { name, places, labels: wish.labels, once: wish.once, patienceSeconds, heartbeatSeconds }
    const { pid, now, signal, urgent } = world
    const make: WorkerPorts['make'] = (job, at) =>
      makeAttempt(job, { ...at, world: withoutQueue(world), remote, workspace: workspaces[at.place]! })
    const end = await work(options, { queue, remote, make, version: VERSION, pid, now, signal, urgent }, emit)
    if (end.kind === 'unable') throw end.error
    return end
  } finally {
    release()
    await queue?.close().catch(() => undefined)
  }
}

/** Waits for the queue: a run, and with it an embedded queue, may start a little later than its workers. */
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

/** The workspace of an attempt, and its job. */
type AttemptPlace = Parameters<WorkerPorts['make']>[1] & {
  readonly world: World
  readonly remote: Remote
  readonly workspace: CommitWorkspace
}

/** Makes the attempt: everything that it executes comes from the base, and nothing from the job. */
async function makeAttempt(job: Job, place: AttemptPlace): Promise<Result> {
  const { remote, workspace, branch, control, emit } = place
  // The job learns of Ctrl-C through its control.
  const world: World = Object.create(place.world, {
    signal: { value: control.signal },
    urgent: { value: control.killSignal },
  })
  await fetchFor(job, branch, remote)
  const furnished = await workspace.bring(job.base, emit)
  const { own, project } = furnished
  const task = project.tasks.find(({ id, file }) => id === job.task.id && file === job.task.file)
  if (!task) throw new UserError(`${job.task.file} is not there at ${job.base.head.slice(0, 10)}`)
  const mode = sandboxMode(null, { env: world.env, config: project.config })
  const sandbox = await openSandbox(mode, { env: world.env, root: own.root, config: project.config })
  const { name, model } = job.agent
  const agents = new Agents(
    world,
    { ...NO_WISH, agent: name, model },
    { ...project, isCaged: sandbox.state.on },
  )
  const [agent] = await agents.choicesFor(task)
  const { gates, gatesChanged } = runOptions(NO_WISH, project)
  const mine: Job = { ...job, task: jobTaskOf(task), agent, gates, gatesChanged }
  const within = { world, base: job.base, agents, sandbox, control, emit }
  const result = await workspace.within(furnished, within, async (ports) => {
    await goOn(own, job)
    return attempt(mine, attemptPorts(ports, task.id), emit)
  })
  if ('problem' in result) throw new UserError(result.problem)
  if (result.kind === 'passed') own.keeps(result.candidate.kept.commit)
  const changed = result.kind === 'passed' ? result.candidate.facts.changed : (result.record?.changed ?? [])
  if (changed.some(isLockFile)) await own.prepared(false)
  return result
}

/** Fetches the base and the earlier attempts, and frees the refs that this attempt creates. */
async function fetchFor(
  { base, task, attempt: number, token }: Job,
  branch: string,
  remote: Remote,
): Promise<void> {
  if (!(await remote.bringBase(branch, base.head)))
    throw new UserError(
      `${remote.name}/${branch} does not hold ${base.head.slice(0, 10)}, which the job begins from`,
      'Is this a clone of the same repository, and is that its remote?',
    )
  await remote.free([attemptRef(task.id, number), candidateRef(task.id, number, token)])
  if (number > 1) await remote.bringKept(task.id)
}

/** Starts from the files of an earlier attempt, if the run requests that. */
async function goOn(own: OwnWorkspace, { from, base }: Job): Promise<void> {
  if (from.kind === 'base') return
  const { inspect, restore } = own.workspace
  const { tree } = await inspect.work(base)
  await restore.tree({ recorded: tree, to: from.commit })
}
