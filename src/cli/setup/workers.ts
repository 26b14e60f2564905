import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { UserError } from '../../base/errors.ts'
import { openBoss, type Queue } from '../../engine/workers/boss.ts'
import { Coordinator } from '../../engine/workers/coordinator.ts'
import { embeddedUrl, openEmbedded } from '../../engine/workers/embedded.ts'
import { Remote } from '../../engine/workers/remote.ts'
import { EMBEDDED, QUEUE_VARIABLE, queueUrl, shownUrl, withoutQueue } from '../../config/queue-url.ts'
import { openWithCommit } from '../../git/open-repository.ts'
import type { Agents } from '../../agents/agents.ts'
import type { Place, Project, Where } from '../../config/project.ts'
import type { World } from '../../base/world.ts'
import { hostname } from 'node:os'
import { gzipSync } from 'node:zlib'
import { textAt } from '../../base/read-file.ts'
import { attempt } from '../../engine/attempt.ts'
import { jobTaskOf, logOf, type Job } from '../../engine/job.ts'
import { keptGreen } from '../../engine/ledger.ts'
import type { Emit } from '../../engine/ports.ts'
import type { Happening } from '../../engine/events/event.ts'
import { attemptRef, candidateRef } from '../../git/record.ts'
import { sleep } from '../../process/sleep.ts'
import { installing } from '../../engine/check.ts'
import { Worker, type WorkerEnd, type WorkerPorts } from '../../engine/workers/worker.ts'
import { takeCommitSlots, type CommitSlots } from './commit-slots.ts'
import { runOptions } from './start-run.ts'
import type { OptionsOf } from '../options/option.ts'
import type { WORKER_OPTIONS } from '../options/run-options.ts'
import manifest from '../../../package.json' with { type: 'json' }

/** The version that a run and its workers must share. */
const VERSION: string = manifest.version

/** The queue to use; throws with what to do if there is none. */
export function meantQueue(
  named: string | undefined,
  { env }: Pick<World, 'env'>,
  { config }: Pick<Place, 'config'>,
): string {
  const url = queueUrl(named ?? null, { env, configured: config.queue.url })
  if (url !== null) return url
  throw new UserError(
    'no queue is named',
    `Give --queue a Postgres URL, or embedded; or name it in ${QUEUE_VARIABLE}, or as "queue": { "url": … }.`,
  )
}

/** Opens the queue of a worker: an embedded one belongs to the run in this checkout. */
async function openWorkersQueue(url: string, { root }: Pick<Place, 'root'>): Promise<Queue> {
  const at = url === EMBEDDED ? embeddedUrl(folderIn(root)) : url
  if (at !== null) return openBoss({ url: at, shown: shownUrl(at) }, packageRoots(root))
  throw new UserError(
    'no run here has had an embedded queue yet',
    'Start the run first: ralph run --loop --queue embedded. Elsewhere give the URL that it shows.',
  )
}

/** What makes the attempts of a run with a queue; it opens no queue before the run begins. */
export async function openCoordinator(
  world: World,
  project: Project,
  { queue, agents }: { queue: string; agents: Agents },
): Promise<Coordinator> {
  const { root, config, tierOf } = project
  const { pid, now, urgent } = world
  const { git } = await openWithCommit(world, root)
  const url = meantQueue(queue, world, project)
  const isEmbedded = url === EMBEDDED
  const roots = packageRoots(root)
  return new Coordinator({
    open: (warn) =>
      isEmbedded ? openEmbedded(folderIn(root), roots, warn) : openBoss({ url, shown: shownUrl(url) }, roots),
    isEmbedded,
    remote: new Remote(git, config.queue.remote),
    times: config.queue,
    version: VERSION,
    pid,
    labelsOf: async (task) => [tierOf(task).tier, ...task.tags, ...(await agents.namesFor(task))],
    now,
    urgent,
  })
}

/** Where the packages of a queue may be installed: beside ralph, and in the project. */
function packageRoots(root: string): readonly string[] {
  return [dirname(fileURLToPath(import.meta.url)), root]
}

/** The folder of a project's embedded queue. */
function folderIn(root: string): string {
  return join(root, '.ralph', 'queue')
}

/** Does jobs of the run that has a queue, in workspaces of this clone; throws what prevents that. */
export async function startWorker(
  world: World,
  { where, place, options }: { where: Where; place: Place; options: OptionsOf<typeof WORKER_OPTIONS> },
  emit: Emit<Happening>,
): Promise<Exclude<WorkerEnd, { kind: 'unable' }>> {
  const { jobs, queue: configured } = place.config
  const url = meantQueue(options.queue, world, place)
  const { label: labels, once, stay } = options
  if (stay && url === EMBEDDED)
    throw new UserError(
      'an embedded queue ends with its run',
      'Give --queue a Postgres URL, or leave out --stay.',
    )
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
      () => signal.aborted || (!stay && now().getTime() > until),
      { signal, warn },
    )
    const name = options.name ?? `${hostname().split('.')[0]}-${pid}`
    const limits = { name, places, labels, once, stay, patienceSeconds, heartbeatSeconds }
    const make: WorkerPorts['make'] = (job, at) => makeAttempt(job, { ...at, remote, taken })
    const ports = {
      queue,
      remote,
      make,
      logOf: (job: Job) => packedLog(place, job),
      version: VERSION,
      pid,
      now,
      signal,
      urgent,
    }
    const end = await new Worker(limits, ports, emit).work()
    if (end.kind === 'unable') throw end.error
    return end
  } finally {
    taken.release()
    await queue?.close().catch(() => undefined)
  }
}

/** The log of the agent of a job. */
function packedLog({ root }: Pick<Place, 'root'>, job: Job): string | null {
  const text = textAt(join(root, logOf(job)))
  return text === null ? null : gzipSync(text).toString('base64')
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
    const { gatesChanged, ...options } = runOptions({}, project)
    const gates = keptGreen(
      options.gates,
      job.gates.flatMap(({ name, required }) => (required ? [name] : [])),
    )
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
