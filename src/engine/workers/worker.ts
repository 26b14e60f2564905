import type { Result } from '../attempt.ts'
import type { Job } from '../job.ts'
import type { Emit } from '../ports.ts'
import { UserError } from '../../base/errors.ts'
import { formatDuration } from '../../base/time.ts'
import type { Happening } from '../events/event.ts'
import { sleep } from '../../process/sleep.ts'
import { Control } from '../control.ts'
import { reasonOf, type Queue } from './boss.ts'
import { type JobEnd, PROTOCOL, type Report, type RunSign, type Ticket, type WorkerSign } from './queue.ts'
import type { Remote } from './remote.ts'
import { oneAtATime } from '../../base/mutex.ts'

/** The options of a worker. */
interface WorkerOptions {
  readonly name: string
  readonly places: number
  readonly labels: readonly string[]
  /** Whether it ends after one job. */
  readonly once: boolean
  /** Whether it waits for the next run, however long that takes. */
  readonly stay: boolean
  /** How long it waits for a run, and for a queue that is gone. */
  readonly patienceSeconds: number
  /** The interval of its heartbeats if no run asks for another one. */
  readonly heartbeatSeconds: number
}

/** Everything that a worker uses. */
export interface WorkerPorts {
  readonly queue: Queue
  readonly remote: Remote
  /** Makes the attempt at a job in the workspace of that place, counted from 0; throws what a person must act on. */
  readonly make: (
    job: Job,
    at: { place: number; branch: string; control: Control; emit: Emit<Happening> },
  ) => Promise<Result>
  /** The log of the agent of a job, as a report holds it. */
  readonly logOf: (job: Job) => string | null
  readonly version: string
  readonly pid: number
  readonly now: () => Date
  /** The first Ctrl-C: what is under way ends in order. */
  readonly signal: AbortSignal
  readonly urgent: AbortSignal
}

/** Why a worker ends. */
export type WorkerEnd =
  | { readonly kind: 'done' | 'interrupted'; readonly reason: string }
  /** It cannot do jobs here. */
  | { readonly kind: 'unable'; readonly error: unknown }

interface Doing {
  readonly job: Job
  readonly control: Control
  readonly place: number
}

const POLL_MS = 100
const LOOK_SECONDS = 1
/** How long to wait at the end until the run has read the reports. */
const PARTING_SECONDS = 10
/** After so many missing heartbeats a run is dead, or soon will be. */
const SILENT_BEATS = 6

/** Does the jobs of the run that has the queue, until there is no run, or a person ends the worker. */
export class Worker {
  readonly #options: WorkerOptions
  readonly #ports: WorkerPorts
  readonly #emit: Emit<Happening>
  readonly #doing = new Map<string, Doing>()
  readonly #under = new Set<Promise<void>>()
  readonly #places: number[]
  /** The places of conversations that were cut off, by session. */
  readonly #conversations = new Map<string, number>()
  #ticket: Ticket | null = null
  #run: RunSign | null = null
  #beatAt = -Infinity
  #lookedAt = -Infinity
  #runSeenAt: number
  #failingSince: number | null = null
  #end: WorkerEnd | null = null

  constructor(options: WorkerOptions, ports: WorkerPorts, emit: Emit<Happening>) {
    this.#options = options
    this.#ports = ports
    this.#emit = emit
    this.#places = Array.from({ length: options.places }, (_, index) => index)
    this.#runSeenAt = this.#now()
  }

  async work(): Promise<WorkerEnd> {
    const { signal, urgent } = this.#ports
    for (;;) {
      if (signal.aborted) this.#leave({ kind: 'interrupted', reason: 'the worker was interrupted' })
      try {
        await this.#tick()
        this.#failingSince = null
      } catch (error) {
        this.#fails(error)
      }
      if (this.#end && this.#doing.size === 0) break
      if (this.#end && urgent.aborted) break
      // While it ends, Ctrl-C goes to its jobs and does not wake this loop.
      await sleep(POLL_MS, this.#end ? undefined : signal)
    }
    await Promise.all(this.#under)
    await this.#part()
    return this.#end
  }

  async #tick(): Promise<void> {
    const now = this.#now()
    if (now - this.#lookedAt >= LOOK_SECONDS) {
      this.#lookedAt = now
      await this.#look(now)
    }
    if (!this.#ticket && !this.#end) await this.#join()
    const { heartbeatSeconds } = this.#run ?? this.#options
    if (this.#ticket && now - this.#beatAt >= heartbeatSeconds) await this.#beat(this.#ticket, now)
    if (this.#ticket) await this.#receive(this.#ticket)
  }

  /** Checks whether there is a run with the same protocol. */
  async #look(now: number): Promise<void> {
    const { queue, version } = this.#ports
    const held = await queue.run()
    if (held && held.silentSeconds < held.sign.heartbeatSeconds * SILENT_BEATS) {
      this.#runSeenAt = now
      if (held.sign.protocol !== PROTOCOL || held.sign.version !== version)
        this.#leave({ kind: 'unable', error: otherVersion(held.sign, version) })
      this.#run = held.sign
      return
    }
    const { patienceSeconds, stay } = this.#options
    if (stay || now - this.#runSeenAt <= patienceSeconds || this.#doing.size > 0) return
    const reason = `no run is under way on this queue for ${formatDuration(patienceSeconds)}`
    this.#leave({ kind: 'done', reason })
  }

  async #join(): Promise<void> {
    const { queue, version, pid } = this.#ports
    const { name, places, labels } = this.#options
    const sign: WorkerSign = { protocol: PROTOCOL, version, name, pid, places, labels }
    this.#ticket = await queue.join(sign)
    this.#beatAt = this.#now()
    this.#emit({ type: 'worker-joined', worker: name, places, labels })
  }

  async #beat(ticket: Ticket, now: number): Promise<void> {
    this.#beatAt = now
    if (await this.#ports.queue.beat(ticket)) return
    // Its jobs are given to others by now: what it still does is recorded here, and does not land.
    this.#ticket = null
    const message = 'the run has heard nothing of this worker, and has given its jobs to others'
    if (this.#doing.size > 0) this.#warn(message)
    for (const { control } of this.#doing.values()) control.stop('clean')
  }

  async #receive(ticket: Ticket): Promise<void> {
    const { jobs, words } = await this.#ports.queue.receive(ticket)
    for (const { parcel, job } of jobs) {
      const place = this.#end ? undefined : this.#takePlace(job)
      if (place === undefined) {
        const reason = this.#end ? 'it is about to end' : 'it has no free place'
        await this.#report(ticket, parcel, { end: { kind: 'given-back', reason }, log: null })
        continue
      }
      const doing: Doing = { job, control: new Control(), place }
      this.#doing.set(parcel, doing)
      if (this.#options.once) this.#end = { kind: 'done', reason: 'it was started with --once' }
      const under: Promise<void> = this.#do(ticket, parcel, doing).finally(() => {
        this.#doing.delete(parcel)
        this.#places.push(place)
        this.#under.delete(under)
      })
      this.#under.add(under)
    }
    for (const word of words) {
      if (word.kind === 'drain') {
        this.#leave({ kind: 'done', reason: 'it was to take no more jobs of the run' })
        continue
      }
      const doing = this.#doing.get(word.parcel)
      if (!doing) continue
      const { control, job } = doing
      if (word.kind === 'answer') control.answer(job.task.id, word.answer)
      else if (word.how === 'skip') control.skip(job.task.id)
      else control.stop(word.how)
    }
  }

  /** A free place: the one where the job's conversation was, if it can be. */
  #takePlace({ resume }: Job): number | undefined {
    const at = this.#places.indexOf(this.#conversations.get(resume?.session ?? '') ?? -1)
    return this.#places.splice(Math.max(0, at), 1)[0]
  }

  /** Does one job to the end: the attempt, its refs on the remote, and the report. */
  async #do(ticket: Ticket, parcel: string, { job, control, place }: Doing): Promise<void> {
    const { queue, logOf } = this.#ports
    const outbox = outboxFor(queue, parcel)
    const emit: Emit<Happening> = (event) => {
      this.#emit(event)
      outbox.put(event)
    }
    let end: JobEnd
    try {
      const branch = this.#run?.branch ?? job.base.branch ?? ''
      // Elsewhere nobody knows the conversation.
      const isHere = this.#conversations.get(job.resume?.session ?? '') === place
      const mine = isHere ? job : { ...job, resume: null }
      const result = await this.#ports.make(mine, { place, branch, control, emit })
      if (result.kind === 'failed' && result.resume) this.#conversations.set(result.resume.session, place)
      end = await this.#made(job, result)
    } catch (error) {
      // The cause would also stop the next job.
      end = { kind: 'given-back', reason: reasonOf(error) }
      this.#leave({ kind: 'unable', error })
    }
    await this.#deliver(async () => {
      await outbox.flush()
      if (this.#ticket?.id === ticket.id)
        await this.#report(ticket, parcel, { end, log: end.kind === 'given-back' ? null : logOf(job) })
    })
  }

  async #made({ task }: Job, result: Result): Promise<JobEnd> {
    const { remote } = this.#ports
    const record = result.kind === 'failed' ? (result.record?.ref ?? null) : null
    const candidate = result.kind === 'passed' ? result.candidate.ref : null
    const refs = [candidate, record].flatMap((ref) => ref ?? [])
    const pushed = refs.length === 0 ? null : await remote.pushNew(refs)
    if (pushed?.kind === 'refused')
      throw new UserError(
        `${remote.name} does not take ${refs[0]}: ${pushed.reason}`,
        `What was done on ${task.id} is kept here under ${refs[0]}. See that you may push refs/ralph/ there.`,
      )
    if (pushed?.kind === 'overtaken') {
      const message = `${task.id} was given to another worker meanwhile: what was done here is kept under ${refs.join(', ')}`
      this.#warn(message)
    }
    // A later run in this clone would land it again.
    if (candidate !== null && pushed?.kind === 'pushed') await remote.forget(candidate)
    if (result.kind === 'passed')
      return { kind: 'passed', candidate: result.candidate.ref, denied: result.denied }
    const { outcome, usage, resume } = result
    return {
      kind: 'failed',
      outcome: { ...outcome, until: outcome.until?.toISOString() ?? null },
      record,
      usage,
      resume,
    }
  }

  #report(ticket: Ticket, parcel: string, report: Omit<Report, 'isLast'>): Promise<void> {
    return this.#ports.queue.report(ticket, parcel, { ...report, isLast: this.#end !== null })
  }

  /** Reports as soon as the queue is there; the finished work is already on the remote. */
  async #deliver(report: () => Promise<void>): Promise<void> {
    const until = this.#now() + this.#options.patienceSeconds
    for (;;) {
      try {
        return await report()
      } catch (error) {
        if (this.#now() > until) return this.#leave(this.#queueGone(error))
        await sleep(LOOK_SECONDS * 1000)
      }
    }
  }

  #leave(end: WorkerEnd): void {
    this.#end ??= end
    if (end.kind !== 'interrupted') return
    for (const { control } of this.#doing.values()) control.stop(this.#ports.urgent.aborted ? 'now' : 'clean')
  }

  #fails(error: unknown): void {
    if (this.#run?.isEmbedded && this.#doing.size === 0)
      return this.#leave({ kind: 'done', reason: 'the run has ended, and its queue with it' })
    if (this.#failingSince === null)
      this.#warn(`the queue cannot be reached, and is tried again: ${reasonOf(error)}`)
    this.#failingSince ??= this.#now()
    const { patienceSeconds, stay } = this.#options
    if (!stay && this.#now() - this.#failingSince > patienceSeconds) this.#leave(this.#queueGone(error))
  }

  #queueGone(error: unknown): WorkerEnd {
    const message = `the queue at ${this.#ports.queue.url} is gone: ${reasonOf(error)}`
    const fix = 'What was done is on the remote, and the next run lands it.'
    return { kind: 'unable', error: new UserError(message, fix) }
  }

  #warn(message: string): void {
    this.#emit({ type: 'warning', message })
  }

  /** Leaves the queue, once the run has read the reports. */
  async #part(): Promise<void> {
    const { queue, urgent } = this.#ports
    const ticket = this.#ticket
    if (!ticket) return
    try {
      const until = this.#now() + PARTING_SECONDS
      const isThere = async (): Promise<boolean> => (await queue.parcels(ticket)).length > 0
      while (this.#run && !urgent.aborted && this.#now() < until && (await isThere())) await sleep(POLL_MS)
      await queue.drop(ticket)
    } catch {
      // Then its silence shows that it is gone.
      return
    }
  }

  /** In seconds. */
  #now(): number {
    return this.#ports.now().getTime() / 1000
  }
}

function otherVersion({ version }: RunSign, own: string): UserError {
  return new UserError(
    `the run on this queue is of ralph ${version}, and this is ralph ${own}`,
    `Run and workers must be the same: npm install --global ralph-tasks@${version}`,
  )
}

/** How long events are collected before they are sent. */
const GATHER_MS = 200

/** Sends the events of a job to the run, in order; repeats what a queue that was gone for a moment has missed. */
function outboxFor(queue: Queue, parcel: string) {
  const inTurn = oneAtATime()
  let waiting: Happening[] = []
  let timer: NodeJS.Timeout | undefined
  /** Sends what has not been sent yet. */
  const flush = (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    return inTurn(async () => {
      const events = waiting
      if (events.length === 0) return
      waiting = []
      try {
        await queue.sendEvents({ parcel, events })
      } catch {
        waiting = [...events, ...waiting]
      }
    })
  }
  const put = (event: Happening): void => {
    waiting.push(event)
    timer ??= setTimeout(() => void flush(), GATHER_MS)
  }
  return { put, flush }
}
