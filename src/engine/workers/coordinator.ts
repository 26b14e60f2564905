import type { Result } from '../attempt.ts'
import type { QueueState } from '../control-socket.ts'
import type { Job } from '../job.ts'
import { outcome, outcomeOfEnd, type Outcome } from '../outcome.ts'
import type { Emit } from '../ports.ts'
import { UserError } from '../../base/errors.ts'
import { oneAtATime } from '../../base/mutex.ts'
import { fewOf } from '../../base/text.ts'
import { formatDuration } from '../../base/time.ts'
import type { Happening } from '../events/event.ts'
import { candidateRef } from '../../git/record.ts'
import { thisMachine, isAlive } from '../../process/table.ts'
import { onAbort, sleep } from '../../process/sleep.ts'
import type { Branch } from '../slot/branch.ts'
import { sharedBranch } from './shared-branch.ts'
import { placeOf } from '../../process/lock.ts'
import type { Task } from '../../backlog/model.ts'
import type { Queue } from './boss.ts'
import { acceptReport, notMade, recordLost, type GivenJob } from './accept.ts'
import { PROTOCOL, type QueuePlace, type RunSign, type Ticket } from './queue.ts'
import type { Remote } from './remote.ts'
import { placeFor, Roster, takes, type Delivered, type Delivery, type RosterTimes } from './roster.ts'

/** What a coordinator uses. */
interface CoordinatorPorts {
  /** Opens the queue; `warn` gets what a person should know about it. */
  readonly open: (warn: (message: string) => void) => Promise<Queue>
  readonly isEmbedded: boolean
  readonly remote: Remote
  readonly times: RosterTimes
  /** The version of ralph. */
  readonly version: string
  readonly pid: number
  /** The labels by which a worker is chosen for a task: its tier, its agent, its tags. */
  readonly labelsOf: (task: Task) => Promise<readonly string[]>
  readonly now: () => Date
  /** The second Ctrl-C: every wait ends. */
  readonly urgent: AbortSignal
}

/** Has workers make the attempts of a run, over a queue. */
export class Coordinator {
  readonly #at: CoordinatorPorts
  #opened: Roster | null = null
  /** The jobs that workers have of a dead run, by task. */
  readonly #underWay = new Map<string, UnderWay>()
  /** Candidates that are, or were, on the remote. */
  readonly #candidates = new Set<string>()
  /** Removes refs from the remote, behind the landings. */
  readonly #removing = oneAtATime()
  /** Tasks that were attempted. */
  readonly #tasks = new Set<string>()
  /** Tasks whose job has been given to a worker, and whose attempt is not over. */
  readonly #given = new Set<string>()
  /** Tasks whose attempt is not over, and those that have not begun because no worker is free. */
  readonly #attempted = new Set<string>()
  #idle: readonly string[] = []
  /** The names of the workers that have conversations to go on with, by session. */
  readonly #conversations = new Map<string, string>()

  constructor(at: CoordinatorPorts) {
    this.#at = at
  }

  get #roster(): Roster {
    if (!this.#opened) throw new Error('the queue is not open yet')
    return this.#opened
  }

  /** The URL for workers to start with, without its password. */
  get url(): string {
    return this.#roster.queue.url
  }

  /** Takes the run's place on the queue, and fetches what an earlier run has left; throws if another run has that place. */
  async begin({ id, branch, emit }: { id: string; branch: string; emit: Emit<Happening> }): Promise<void> {
    const { remote, version, pid, times, isEmbedded } = this.#at
    await remote.check()
    const queue = await this.#open(emit)
    const roster = (this.#opened = new Roster(queue, this.#at))
    const { heartbeatSeconds } = times
    const machine = await thisMachine()
    const sign = { protocol: PROTOCOL, version, run: id, machine, pid, branch, isEmbedded, heartbeatSeconds }
    roster.ticket = await this.#takePlace(queue, sign)
    await queue.sweep()
    await this.#findUnderWay(queue)
    await remote.bringKept()
    for (const ref of await remote.candidates()) this.#candidates.add(ref)
    roster.watch()
  }

  #open(emit: Emit<Happening>): Promise<Queue> {
    const command = this.#at.isEmbedded ? 'the embedded queue' : 'the connection to the queue'
    // The first start of an embedded one takes seconds, in which no timer runs.
    emit({ type: 'preparing', command })
    return this.#at.open((message) => emit({ type: 'warning', message }))
  }

  /** The same branch, which is now shared with the remote that workers fetch from. */
  shared(branch: Branch): Branch {
    return sharedBranch(branch, this.#at.remote)
  }

  /** Emits from here on what happens to workers: they come, go and are lost. */
  listen(emit: Emit<Happening>): void {
    this.#roster.listen(emit)
    const { remote, times, urgent: signal } = this.#at
    const warn = (message: string): void => emit({ type: 'warning', message })
    remote.waits({ seconds: times.workerTimeoutSeconds, signal, warn })
  }

  /** How many attempts workers can make at once now. */
  get places(): number {
    return this.#roster.loaded.reduce((sum, { sign }) => sum + sign.places, 0)
  }

  /** Those of these tasks for which a suitable worker is free, besides those that are `working`. */
  async takeable(tasks: readonly Task[], working: readonly Task[]): Promise<readonly Task[]> {
    const { loaded } = this.#roster
    const untaken = new Set(tasks.map(({ id }) => id))
    const hasPlace = async (task: Task): Promise<boolean> => {
      const labels = await this.#labelsOf(task)
      if (loaded.some(({ sign }) => takes(sign.labels, labels))) untaken.delete(task.id)
      const found = placeFor(labels, loaded)
      if (found) found.busy++
      return found !== null || this.#goingOn(task.id) !== null
    }
    for (const task of working) if (!this.#given.has(task.id)) await hasPlace(task)
    const found: Task[] = []
    for (const task of tasks) if (await hasPlace(task)) found.push(task)
    this.#idle = tasks.flatMap((task) => (found.includes(task) ? [] : [task.id]))
    const isNone = loaded.length > 0 && tasks.length > 0 && untaken.size === tasks.length
    this.#roster.untaken = isNone ? fewOf([...untaken]) : null
    return found
  }

  /** To find out which agent does a task takes reading and looking around: only workers with labels need to know. */
  async #labelsOf(task: Task): Promise<readonly string[]> {
    const isAsked = this.#roster.loaded.some(({ sign }) => sign.labels.length > 0)
    return isAsked ? this.#at.labelsOf(task) : []
  }

  /** What a person in another terminal can see of the queue. */
  get state(): QueueState {
    const waiting = [...this.#attempted].filter((task) => !this.#given.has(task))
    return { workers: this.#opened?.state ?? [], waiting: [...waiting, ...this.#idle] }
  }

  /** Lets the workers of that name end after the jobs that they have; false if there is none. */
  drain(name: string): boolean {
    return this.#opened?.drain(name) ?? false
  }

  /** Resolves when a worker has come, gone, or become free. */
  changed(): Promise<void> {
    return this.#roster.changed
  }

  /** Why the run cannot continue: no worker has come for too long, or the queue is gone; null if it can. */
  get hopeless(): string | null {
    return this.#roster.hopeless
  }

  /** Does the same as an attempt here: what passes is a candidate in this repository, what fails a record. */
  async attempt(job: Job, ports: GivenJob['ports'], emit: Emit<Happening>): Promise<Result> {
    await ports.control.unpaused()
    const { id } = job.task
    const { remote } = this.#at
    this.#tasks.add(id)
    this.#attempted.add(id)
    if (job.attempt > 1) await remote.pushRecords(id)
    try {
      for (;;) {
        const going = this.#goingOn(id, job.attempt)
        this.#underWay.delete(id)
        const given: GivenJob = { job: going?.job ?? job, ports, emit, begunAt: ports.now() }
        const delivery = going ? this.#takeOver(given, going) : await this.#give(given)
        const ended = delivery && (await this.#untilEnd(delivery, given))
        if (!ended) return await notMade(given, this.#whyNot(id, ports))
        // A lost job may still push this ref.
        this.#candidates.add(candidateRef(id, job.attempt, given.job.token))
        if (ended.kind === 'lost') return await recordLost(given, ended.reason)
        const { worker, end } = ended
        if (end.kind === 'failed' && end.resume) this.#conversations.set(end.resume.session, worker)
        if (end.kind !== 'given-back') return await acceptReport(given, { worker, end }, remote)
        emit({ type: 'warning', message: `${worker} gave ${id} back: ${end.reason}` })
        this.#given.delete(id)
        await sleep(PAUSE_MS, ports.control.signal)
      }
    } finally {
      this.#given.delete(id)
      this.#attempted.delete(id)
    }
  }

  /** Removes a candidate from the remote too: it has landed, or is a record now. */
  dropped(ref: string): void {
    // What cannot be removed now is tried again at the end.
    void this.#removing(() => this.#at.remote.remove([ref])).catch(() => undefined)
  }

  /** Leaves the queue. */
  async end(): Promise<void> {
    if (!this.#opened) return
    const { remote } = this.#at
    const { queue, ticket } = this.#opened
    remote.waits(null)
    await this.#opened.end()
    // If nothing can be sent any more, the next run notices by itself.
    const quietly = async (work: Promise<void>): Promise<void> => work.catch(() => undefined)
    if (ticket) {
      for (const task of this.#tasks) await quietly(remote.pushRecords(task))
      await quietly(this.#removeLanded())
      await quietly(queue.drop(ticket))
    }
    await quietly(queue.close())
  }

  /** Removes from the remote what has landed, or is a record now. */
  async #removeLanded(): Promise<void> {
    const { remote } = this.#at
    const waiting = new Set(await remote.candidates())
    await this.#removing(() => remote.remove([...this.#candidates].filter((ref) => !waiting.has(ref))))
  }

  /** Takes the run's place; removes it from a dead run. */
  async #takePlace(queue: Queue, sign: RunSign): Promise<Ticket> {
    const held = await queue.run()
    if (held) {
      await this.#refuseLiving(held)
      await queue.drop(held.ticket)
    }
    const ticket = await queue.takeRun(sign)
    if (ticket) return ticket
    const other = await queue.run()
    throw other ? busy(other.sign, 0) : new UserError('somebody else has this queue just now', 'Try again.')
  }

  async #refuseLiving({ sign, silentSeconds }: QueuePlace<RunSign>): Promise<void> {
    const place = placeOf(sign.machine, await thisMachine())
    if (place === 'before' || (place === 'here' && !isAlive(sign.pid))) return
    if (silentSeconds <= this.#at.times.lostSeconds) throw busy(sign, silentSeconds)
  }

  /** Finds the jobs of a dead run that workers are doing; jobs that no worker has taken are given again. */
  async #findUnderWay(queue: Queue): Promise<void> {
    for (const { ticket } of await queue.workers())
      for (const { id: parcel, job, isTaken, report } of await queue.parcels(ticket))
        if (isTaken && report === null) this.#underWay.set(job.task.id, { job, ticket, parcel })
        else await queue.remove(ticket, parcel)
  }

  /** The job of a dead run that a worker is doing for that task. */
  #goingOn(task: string, attempt?: number): UnderWay | null {
    const found = this.#underWay.get(task)
    const isMeant = attempt === undefined || found?.job.attempt === attempt
    return found && isMeant && this.#roster.isThere(found.ticket) ? found : null
  }

  #takeOver(given: GivenJob, { ticket, parcel }: UnderWay): Delivery {
    const { task, attempt } = given.job
    this.#given.add(task.id)
    const delivery = this.#roster.follow(ticket, parcel, given)
    const message = `${task.id}: attempt ${attempt} of the last run goes on at ${delivery.worker}`
    given.emit({ type: 'recovered', message, task: task.id, ref: null })
    return delivery
  }

  /** Gives the job to a worker that takes it; null if the run or the task ends first, or no worker comes. */
  async #give(given: GivenJob): Promise<Delivery | null> {
    const { source, control } = given.ports
    const { id } = given.job.task
    const over = AbortSignal.any([control.signal, control.skipped(id)])
    while (!over.aborted && this.hopeless === null) {
      const changed = this.changed()
      const task = source.tasks().find((one) => one.id === id)
      const place = placeFor(
        task ? await this.#labelsOf(task) : [],
        this.#roster.loaded,
        this.#speaker(given),
      )
      if (place) {
        this.#given.add(id)
        return this.#roster.give(place.ticket, given)
      }
      await orAborted(changed, over)
    }
    return null
  }

  /** The worker that has the conversation of a job. */
  #speaker({ job: { resume } }: GivenJob): string | undefined {
    return resume ? this.#conversations.get(resume.session) : undefined
  }

  /** Follows a job at a worker to the end; null if the run ends at once. */
  async #untilEnd(
    { ended, end }: Delivery,
    { job, ports: { control } }: GivenJob,
  ): Promise<Delivered | null> {
    const over = new AbortController()
    onAbort(control.signal, over.signal, () => void end('clean'))
    onAbort(control.skipped(job.task.id), over.signal, () => void end('skip'))
    const now = new Promise<null>((resolve) => {
      onAbort(control.killSignal, over.signal, () => void end('now').then(() => resolve(null)))
    })
    const result = await Promise.race([ended, now, this.#untilHopeless(over.signal)])
    over.abort()
    return result
  }

  async #untilHopeless(over: AbortSignal): Promise<null> {
    while (!over.aborted && this.hopeless === null) await orAborted(this.changed(), over)
    return null
  }

  #whyNot(task: string, { control }: GivenJob['ports']): Outcome {
    const { signal } = control
    if (!signal.aborted && control.skipped(task).aborted) return outcomeOfEnd({ kind: 'skipped' })
    const reason = signal.aborted ? null : this.hopeless
    return outcome('interrupted', reason ?? 'the run was interrupted')
  }
}

/** A job that a worker is doing for a run that has died. */
interface UnderWay {
  readonly job: Job
  readonly ticket: Ticket
  readonly parcel: string
}

/** The pause before a returned job is given again. */
const PAUSE_MS = 1000

/** Waits for the promise, or until the signal is aborted. */
async function orAborted(something: Promise<void>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  const over = new AbortController()
  const aborted = new Promise<void>((resolve) => onAbort(signal, over.signal, resolve))
  await Promise.race([something, aborted])
  over.abort()
}

function busy({ run, machine, pid }: RunSign, silentSeconds: number): UserError {
  const silence = silentSeconds >= 1 ? `, last heard of ${formatDuration(silentSeconds)} ago` : ''
  return new UserError(
    `another run has this queue: ${run}, process ${pid} on ${machine.host}${silence}`,
    'Let it end, or give each run a database of its own. Where it is dead, its place is free after 30 seconds.',
  )
}
