import type { Result } from '../attempt.ts'
import type { Job } from '../job.ts'
import { outcome, type Outcome } from '../outcome.ts'
import type { Emit } from '../ports.ts'
import { UserError } from '../../base/errors.ts'
import { fewOf } from '../../base/text.ts'
import { formatDuration } from '../../base/time.ts'
import type { Happening } from '../events/event.ts'
import { candidateRef } from '../../git/record.ts'
import { thisMachine } from '../../process/machine.ts'
import { sleep } from '../../process/sleep.ts'
import { isAlive } from '../../process/table.ts'
import type { Branch } from '../slot/branch.ts'
import type { RemoteAttemptPorts, UnderWay, Workers } from './port.ts'
import { sharedBranch } from './shared-branch.ts'
import { placeOf } from '../../process/lock.ts'
import type { Task } from '../../backlog/model.ts'
import { reasonOf } from './boss.ts'
import { acceptReport, notMade, recordLost, type GivenJob } from './accept.ts'
import { placeFor } from './place.ts'
import { PROTOCOL, type QueuePlace, type Queue, type RunSign, type Ticket } from './queue.ts'
import type { Remote } from './remote.ts'
import { Roster, type Delivered, type Delivery, type RosterTimes } from './roster.ts'

/** What a coordinator uses. */
export interface CoordinatorPorts {
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
export class Coordinator implements Workers {
  readonly #at: CoordinatorPorts
  #opened: { readonly queue: Queue; readonly roster: Roster } | null = null
  #ticket: Ticket | null = null
  #underWay: UnderWay[] = []
  #emit: Emit<Happening> = () => undefined
  /** Candidates that are, or were, on the remote. */
  readonly #candidates = new Set<string>()
  /** Tasks that were attempted. */
  readonly #tasks = new Set<string>()
  /** The number of jobs that have come back and are being checked. */
  #accepting = 0
  readonly #labels = new Map<string, readonly string[]>()
  readonly #promised = new Map<string, Ticket>()

  constructor(at: CoordinatorPorts) {
    this.#at = at
  }

  get url(): string {
    return this.#queue.url
  }

  get #queue(): Queue {
    if (!this.#opened) throw new Error('the queue is not open yet')
    return this.#opened.queue
  }

  get #roster(): Roster {
    if (!this.#opened) throw new Error('the queue is not open yet')
    return this.#opened.roster
  }

  async begin({ id, branch, emit }: Parameters<Workers['begin']>[0]): Promise<void> {
    const { remote, version, pid, times, isEmbedded } = this.#at
    await remote.check()
    const queue = await this.#open(emit)
    this.#opened = { queue, roster: new Roster(queue, this.#at) }
    const { heartbeatSeconds } = times
    const machine = await thisMachine()
    const sign = { protocol: PROTOCOL, version, run: id, machine, pid, branch, isEmbedded, heartbeatSeconds }
    this.#ticket = await this.#takePlace(sign)
    await queue.sweep()
    await remote.bringKept()
    for (const ref of await remote.candidates()) this.#candidates.add(ref)
    await this.#adopt()
    this.#roster.watch(this.#ticket)
  }

  async #open(emit: Emit<Happening>): Promise<Queue> {
    const { isEmbedded } = this.#at
    const command = isEmbedded ? 'the embedded queue' : 'the connection to the queue'
    // Its first start takes seconds, in which no timer runs.
    if (isEmbedded) emit({ type: 'preparing', command })
    const late = isEmbedded ? undefined : setTimeout(() => emit({ type: 'preparing', command }), SHOW_MS)
    try {
      return await this.#at.open((message) => emit({ type: 'warning', message }))
    } finally {
      clearTimeout(late)
    }
  }

  shared(branch: Branch): Branch {
    return sharedBranch(branch, this.#at.remote)
  }

  listen(emit: Emit<Happening>): void {
    this.#emit = emit
    this.#roster.listen(emit)
    const { remote, times, urgent: signal } = this.#at
    const warn = (message: string): void => emit({ type: 'warning', message })
    remote.waits({ seconds: times.workerTimeoutSeconds, signal, warn })
  }

  underWay(): readonly UnderWay[] {
    return this.#underWay
  }

  get places(): number {
    // While work is fetched and checked here, its worker is free already.
    return this.#roster.loaded.reduce((sum, { worker }) => sum + worker.sign.places, this.#accepting)
  }

  async takeable(tasks: readonly Task[]): Promise<readonly Task[]> {
    const loaded = this.#roster.loaded
    if (loaded.every(({ worker }) => worker.sign.labels.length === 0)) {
      this.#roster.untaken(null)
      return tasks
    }
    const found: Task[] = []
    for (const task of tasks) {
      const labels = await this.#labelsOf(task)
      if (placeFor(labels, loaded)) found.push(task)
    }
    const untaken = tasks.filter((task) => !found.includes(task))
    this.#roster.untaken(untaken.length > 0 && found.length === 0 ? fewOf(untaken.map(({ id }) => id)) : null)
    return found
  }

  promise(task: Task): boolean {
    const ticket = this.#roster.promise(this.#labels.get(task.id) ?? [])
    if (ticket) this.#promised.set(task.id, ticket)
    return ticket !== null
  }

  forget(task: string): void {
    const ticket = this.#promised.get(task)
    this.#promised.delete(task)
    if (ticket) this.#roster.unpromise(ticket)
  }

  changed(): Promise<void> {
    return this.#roster.changed()
  }

  get hopeless(): string | null {
    return this.#roster.hopeless
  }

  async attempt(job: Job, ports: RemoteAttemptPorts, emit: Emit<Happening>): Promise<Result> {
    await ports.control.unpaused()
    const given: GivenJob = { job, ports, emit, begunAt: ports.now() }
    const { remote } = this.#at
    this.#tasks.add(job.task.id)
    if (job.attempt > 1) await remote.pushRecords(job.task.id)
    for (;;) {
      const ticket = await this.#placeFor(job, ports)
      if (!ticket) return notMade(given, this.#whyNot(job.task.id, ports))
      const ended = await this.#have(ticket, given)
      if (ended === null) return notMade(given, this.#whyNot(job.task.id, ports))
      // A lost job may still push this ref.
      this.#candidates.add(candidateRef(job.task.id, job.attempt, job.token))
      if (ended.kind === 'lost') return recordLost(given, ended.reason)
      const { worker, end } = ended
      if (end.kind !== 'given-back') {
        this.#accepting++
        try {
          return await acceptReport(given, { worker, end }, remote)
        } finally {
          this.#accepting--
        }
      }
      emit({ type: 'warning', message: `${worker} gave ${job.task.id} back: ${end.reason}` })
      await sleep(PAUSE_MS, ports.control.signal)
    }
  }

  async end(): Promise<void> {
    if (!this.#opened) return
    const { remote } = this.#at
    const { queue, roster } = this.#opened
    remote.waits(null)
    await roster.end()
    // If nothing can be sent any more, the next run notices by itself.
    const quietly = async (work: Promise<void>): Promise<void> => work.catch(() => undefined)
    if (this.#ticket) {
      for (const task of this.#tasks) await quietly(remote.pushRecords(task))
      await quietly(this.#removeLanded())
      await quietly(queue.drop(this.#ticket))
    }
    await quietly(queue.close())
  }

  /** Removes from the remote what has landed, or is a record now. */
  async #removeLanded(): Promise<void> {
    const { remote } = this.#at
    const waiting = new Set(await remote.candidates())
    await remote.remove([...this.#candidates].filter((ref) => !waiting.has(ref)))
  }

  /** Takes the run's place; removes it from a dead run. */
  async #takePlace(sign: RunSign): Promise<Ticket> {
    const queue = this.#queue
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

  async #refuseLiving(held: QueuePlace<RunSign>): Promise<void> {
    const { times } = this.#at
    const queue = this.#queue
    const { machine, pid } = held.sign
    const place = placeOf(machine, await thisMachine())
    if (place === 'before' || (place === 'here' && !isAlive(pid))) return
    const silent = ((await queue.now()) - held.heardAt) / 1000
    if (silent <= times.lostSeconds) throw busy(held.sign, silent)
  }

  /** Follows the jobs of a dead run where they are; jobs that no worker has taken are given again. */
  async #adopt(): Promise<void> {
    const queue = this.#queue
    for (const held of await queue.workers()) {
      const parcels = await queue.parcels(held.ticket)
      const going = parcels.filter(({ isTaken, report }) => isTaken && report === null)
      for (const { id } of parcels.filter((one) => !going.includes(one))) await queue.remove(held.ticket, id)
      if (going.length === 0) continue
      this.#roster.know(held)
      for (const { id, job } of going) {
        const emit: Emit<Happening> = (event) => this.#emit(event)
        const delivery = this.#roster.adopt(held.ticket, id, emit)
        const ended = this.#afterAdopted(job, delivery)
        // If the task is done by now, nobody waits for this.
        ended.catch(() => undefined)
        this.#underWay.push({ job, worker: delivery.worker, ended })
      }
    }
  }

  async #afterAdopted(job: Job, { ended }: Delivery): Promise<'ended' | 'lost'> {
    const how = await ended
    this.#candidates.add(candidateRef(job.task.id, job.attempt, job.token))
    if (how.kind === 'lost' || how.end.kind === 'given-back') return 'lost'
    const { end } = how
    const refs = [end.kind === 'passed' ? end.candidate : end.record].flatMap((ref) => ref ?? [])
    const own = `/${job.task.id}/${job.attempt}`
    await this.#at.remote.bring(refs.filter((ref) => ref.startsWith('refs/ralph/') && ref.includes(own)))
    return 'ended'
  }

  async #labelsOf(task: Task): Promise<readonly string[]> {
    const labels = await this.#at.labelsOf(task)
    this.#labels.set(task.id, labels)
    return labels
  }

  /** Waits for a worker that takes the job; null if the run or the task ends first, or no worker comes. */
  async #placeFor(job: Job, { control }: RemoteAttemptPorts): Promise<Ticket | null> {
    const { id } = job.task
    const promised = this.#promised.get(id)
    this.#promised.delete(id)
    if (promised && this.#roster.isThere(promised)) return promised
    const over = AbortSignal.any([control.signal, control.skipped(job.task.id)])
    const labels = this.#labels.get(id) ?? []
    while (!over.aborted && this.hopeless === null) {
      const changed = this.changed()
      const ticket = this.#roster.promise(labels)
      if (ticket) return ticket
      await orAborted(changed, over)
    }
    return null
  }

  /** Gives the job to the worker and follows it to the end; null if the run ends at once. */
  async #have(ticket: Ticket, { job, ports, emit }: GivenJob): Promise<Delivered | null> {
    let delivery: Delivery | null = null
    const forward: Emit<Happening> = (event) => {
      emit(event.type === 'attempt-started' && delivery ? { ...event, worker: delivery.worker } : event)
      if (event.type === 'question') void this.#ask(event, ports, delivery)
    }
    try {
      delivery = await this.#roster.give(ticket, job, forward)
    } catch (error) {
      // The queue may be gone only for a moment: the roster decides whether it stays gone.
      const reason = `it could not be given to a worker: ${reasonOf(error)}`
      return { kind: 'reported', worker: 'the queue', end: { kind: 'given-back', reason } }
    } finally {
      this.#roster.unpromise(ticket)
    }
    const { end, ended } = delivery
    const { control } = ports
    const over = new AbortController()
    onAbort(control.signal, over.signal, () => void end('clean'))
    onAbort(control.skipped(job.task.id), over.signal, () => void end('skip'))
    const now = new Promise<null>((resolve) => {
      onAbort(control.killSignal, over.signal, () => void end('now').then(() => resolve(null)))
    })
    const gone = this.#untilHopeless(over.signal)
    const result = await Promise.race([ended, now, gone])
    over.abort()
    return result
  }

  async #untilHopeless(over: AbortSignal): Promise<null> {
    while (!over.aborted && this.hopeless === null) await orAborted(this.changed(), over)
    return null
  }

  /** Asks here what the agent there asks. */
  async #ask(
    { id, text, options }: Extract<Happening, { type: 'question' }>,
    ports: RemoteAttemptPorts,
    delivery: Delivery | null,
  ): Promise<void> {
    const answer = await ports.ask({ id, text, options }, ports.control.signal)
    if (answer !== null) await delivery?.answer(answer)
  }

  #whyNot(task: string, { control }: RemoteAttemptPorts): Outcome {
    const { signal } = control
    if (!signal.aborted && control.skipped(task).aborted) return outcome('skipped', 'the task was skipped')
    const reason = signal.aborted ? null : this.hopeless
    return outcome('interrupted', reason ?? 'the run was interrupted')
  }
}

/** Only waits longer than this are shown. */
const SHOW_MS = 1000

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

function onAbort(signal: AbortSignal, over: AbortSignal, act: () => void): void {
  if (signal.aborted) act()
  else signal.addEventListener('abort', act, { once: true, signal: over })
}

function busy({ run, machine, pid }: RunSign, silentSeconds: number): UserError {
  const silence = silentSeconds >= 1 ? `, last heard of ${formatDuration(silentSeconds)} ago` : ''
  return new UserError(
    `another run has this queue: ${run}, process ${pid} on ${machine.host}${silence}`,
    'Let it end, or give each run a database of its own. Where it is dead, its place is free after 30 seconds.',
  )
}
