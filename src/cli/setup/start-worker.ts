import { hostname } from 'node:os'
import { attempt } from '../../engine/attempt.ts'
import { jobTaskOf, type Job } from '../../engine/job.ts'
import type { Emit } from '../../engine/ports.ts'
import { UserError } from '../../base/errors.ts'
import type { Happening } from '../../engine/events/event.ts'
import { attemptRef, candidateRef } from '../../git/record.ts'
import { sleep } from '../../process/sleep.ts'
import { installing } from '../../engine/check.ts'
import type { Queue } from '../../engine/workers/queue.ts'
import { Remote } from '../../engine/workers/remote.ts'
import { work, type WorkerEnd, type WorkerPorts } from '../../engine/workers/worker.ts'
import type { Place, Where } from '../../config/project.ts'
import { meantQueue, openWorkersQueue, VERSION } from './queue.ts'
import { withoutQueue } from '../../config/queue-url.ts'
import { takeCommitSlots, type CommitSlots } from './commit-slots.ts'
import { runOptions } from './run-options.ts'
import type { World } from '../../base/world.ts'
import type { OptionsOf } from '../options/option.ts'
import type { WORKER_OPTIONS } from '../options/run-options.ts'

/** Does jobs of the run that has a queue, in workspaces of this clone; throws what prevents that. */
export async function startWorker(
  world: World,
  { where, place, options }: { where: Where; place: Place; options: OptionsOf<typeof WORKER_OPTIONS> },
  emit: Emit<Happening>,
): Promise<Exclude<WorkerEnd, { kind: 'unable' }>> {
  const { jobs, queue: configured } = place.config
  const url = meantQueue(options.queue, world, place)
  const { label: labels, once } = options
  const places = once ? 1 : jobs
  const taken = await takeCommitSlots(withoutQueue(world), { where, place, count: places })
  let queue: Queue | null = null
  try {
    const remote = new Remote(taken.git, configured.remote)
    await remote.check()
    const { workerTimeoutSeconds: patienceSeconds, heartbeatSeconds } = configured
    const { pid, now, signal, urgent } = world
    const warn = (message: string): void => emit({ type: 'warning', message })
    remote.waits({ seconds: patienceSeconds, signal: urgent, warn })
    const until = now().getTime() + patienceSeconds * 1000
    queue = await patiently(
      () => openWorkersQueue(url, place),
      () => signal.aborted || now().getTime() > until,
      { signal, warn },
    )
    const name = `${hostname().split('.')[0]}-${pid}`
    const limits = { name, places, labels, once, patienceSeconds, heartbeatSeconds }
    const make: WorkerPorts['make'] = (job, at) => makeAttempt(job, { ...at, remote, taken })
    const end = await work(limits, { queue, remote, make, version: VERSION, pid, now, signal, urgent }, emit)
    if (end.kind === 'unable') throw end.error
    return end
  } finally {
    taken.release()
    await queue?.close().catch(() => undefined)
  }
}

const RETRY_MS = 1000

/** Waits for the queue: a run, and with it an embedded queue, may start a little later than its workers. */
async function patiently(
  open: () => Promise<Queue>,
  isOver: () => boolean,
  { signal, warn }: { signal: AbortSignal; warn: (message: string) => void },
): Promise<Queue> {
  for (let isFirst = true; ; isFirst = false) {
    try {
      return await open()
    } catch (error) {
      const mayCome = error instanceof UserError && /ECONNREFUSED|no run here has had/.test(error.message)
      if (!mayCome || isOver()) throw error
      if (isFirst) warn(`${error.message}; waits for it`)
      await sleep(RETRY_MS, signal)
    }
  }
}

/** Where an attempt is made. */
type AttemptPlace = Parameters<WorkerPorts['make']>[1] & {
  readonly remote: Remote
  readonly taken: CommitSlots
}

/** Makes the attempt: everything that it executes comes from the base, and nothing from the job. */
async function makeAttempt(job: Job, { remote, taken, branch, place, control, emit }: AttemptPlace) {
  const { base, from, agent: asked } = job
  await fetchFor(job, branch, remote)
  const request = { agent: asked.name, model: asked.model }
  const opened = await taken.open(taken.slots[place]!, base.head, control, request)
  try {
    const { project, agents, attempt: ports } = opened
    const task = project.tasks.find(({ id, file }) => id === job.task.id && file === job.task.file)
    if (!task) throw new UserError(`${job.task.file} is not there at ${base.head.slice(0, 10)}`)
    const [agent] = await agents.choicesFor(task)
    const { gates, gatesChanged } = runOptions({}, project)
    const mine: Job = { ...job, task: jobTaskOf(task), agent, gates, gatesChanged }
    const begun = `${from.kind === 'record' ? from.commit : base.head}^{tree}`
    const problem = await ports.slot.bringWork(begun, installing(ports, emit, 'work'))
    if (problem !== null) throw new UserError(problem)
    return await attempt(mine, ports, emit)
  } finally {
    opened.end()
  }
}

/** Fetches the base and the earlier attempts, and frees the refs that this attempt creates. */
async function fetchFor({ base, task, attempt: number, token }: Job, branch: string, remote: Remote) {
  if (!(await remote.bringBase(branch, base.head)))
    throw new UserError(
      `${remote.name}/${branch} does not hold ${base.head.slice(0, 10)}, which the job begins from`,
      'Is this a clone of the same repository, and is that its remote?',
    )
  await remote.free([attemptRef(task.id, number), candidateRef(task.id, number, token)])
  if (number > 1) await remote.bringKept(task.id)
}
