import { randomUUID } from 'node:crypto'
import type { Job } from '../job.ts'
import type { Emit } from '../ports.ts'
import { formatDuration } from '../../base/time.ts'
import type { Happening } from '../events/event.ts'
import { sleep } from '../../process/sleep.ts'
import { reasonOf } from './boss.ts'
import type { Loaded } from './place.ts'
import {
  PROTOCOL,
  type QueuePlace,
  type Queue,
  type JobEnd,
  type Ticket,
  type WorkerSign,
  type Word,
} from './queue.ts'

/** The waiting times of the run. */
export interface RosterTimes {
  readonly heartbeatSeconds: number
  /** A worker that has been silent for so long has lost its jobs. */
  readonly lostSeconds: number
  /** How long the run waits without a worker, or without the queue, before it says so; after ten times as long it ends. */
  readonly workerTimeoutSeconds: number
}

/** How a job ended that was given to a worker. */
export type Delivered =
  | { readonly kind: 'reported'; readonly worker: string; readonly end: JobEnd }
  | { readonly kind: 'lost'; readonly worker: string; readonly reason: string }

/** A job at a worker. */
export interface Delivery {
  readonly worker: string
  readonly ended: Promise<Delivered>
  readonly end: (how: Extract<Word, { kind: 'end' }>['how']) => Promise<void>
  readonly answer: (answer: string) => Promise<void>
}

interface Known {
  readonly worker: QueuePlace<WorkerSign>
  readonly jobs: Map<string, Open>
  /** It takes no further job. */
  isLeaving: boolean
}

/** A job that a worker has. */
interface Open {
  readonly emit: Emit<Happening>
  readonly settle: (ended: Delivered) => void
}

const POLL_MS = 100
const LOOK_MS = 1000

/** The workers of a run: which there are, what each is doing, and their messages. */
export class Roster {
  readonly #queue: Queue
  readonly #times: RosterTimes
  readonly #now: () => number
  readonly #version: string
  readonly #known = new Map<string, Known>()
  readonly #stop = new AbortController()
  #emit: Emit<Happening> = () => undefined
  #wake: () => void = () => undefined
  #changed: Promise<void>
  #ticket: Ticket | null = null
  #watching: Promise<void> = Promise.resolve()
  #lookedAt = -Infinity
  #beatAt = -Infinity
  #tickedAt: number
  /** Since when the queue was read without a gap: messages from before may be unread. */
  #readSince: number
  #aloneSince: number
  #hasSaidAlone = false
  #failingSince: number | null = null
  #hasSaidFailing = false
  #hopeless: string | null = null
  /** Tasks that no present worker takes; null if there are none. */
  #untaken: string | null = null

  constructor(
    queue: Queue,
    { times, now, version }: { times: RosterTimes; now: () => Date; version: string },
  ) {
    this.#queue = queue
    this.#times = times
    this.#now = () => now().getTime()
    this.#version = version
    this.#changed = this.#nextChange()
    this.#tickedAt = this.#readSince = this.#aloneSince = this.#now()
  }

  /** Begins to watch, as the holder of the run's place. */
  watch(ticket: Ticket): void {
    this.#ticket = ticket
    this.#watching = this.#loop()
  }

  async end(): Promise<void> {
    this.#stop.abort()
    await this.#watching
  }

  listen(emit: Emit<Happening>): void {
    this.#emit = emit
    this.#aloneSince = this.#now()
    for (const { worker } of this.#known.values()) this.#sayJoined(worker.sign)
  }

  /** Those that can be given jobs. */
  get loaded(): readonly Loaded[] {
    return [...this.#known.values()].flatMap(({ worker, jobs, isLeaving }) =>
      isLeaving ? [] : [{ worker, busy: jobs.size }],
    )
  }

  get hopeless(): string | null {
    return this.#hopeless
  }

  /** Sets the tasks that no present worker takes; null if each has one. */
  untaken(tasks: string | null): void {
    this.#untaken = tasks
  }

  /** Resolves when a change may let a job begin. */
  changed(): Promise<void> {
    return this.#changed
  }

  isThere({ id }: Ticket): boolean {
    return this.#known.has(id)
  }

  /** Sends a job to a worker and follows it. */
  async give(ticket: Ticket, job: Job, emit: Emit<Happening>): Promise<Delivery> {
    const id = randomUUID()
    const delivery = this.follow(ticket, id, emit)
    try {
      await this.#queue.give(ticket, id, job)
      return delivery
    } catch (error) {
      this.#known.get(ticket.id)?.jobs.delete(id)
      throw error
    }
  }

  /** Follows a job that was sent to a worker. */
  follow(ticket: Ticket, id: string, emit: Emit<Happening>): Delivery {
    const known = this.#known.get(ticket.id)
    const worker = known?.worker.sign.name ?? ''
    const ended = new Promise<Delivered>((settle) => {
      if (known) known.jobs.set(id, { emit, settle })
      else settle({ kind: 'lost', worker, reason: 'the worker was gone before it had the job' })
    })
    return {
      worker,
      ended,
      end: (how) => this.#sendWord(ticket, { kind: 'end', parcel: id, how }),
      answer: (answer) => this.#sendWord(ticket, { kind: 'answer', parcel: id, answer }),
    }
  }

  /** Ignores a queue that is gone for a moment: its absence has the same effect as the message. */
  async #sendWord(ticket: Ticket, word: Word): Promise<void> {
    try {
      await this.#queue.sendWord(ticket, word)
    } catch {
      return
    }
  }

  async #loop(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        await this.#tick()
        if (this.#failingSince !== null) this.#isBack()
      } catch (error) {
        this.#fails(error)
      }
      await sleep(POLL_MS, this.#stop.signal)
    }
  }

  async #tick(): Promise<void> {
    const now = this.#now()
    // After a sleep of this machine no message was read: living workers will send new ones.
    if (now - this.#tickedAt > this.#times.heartbeatSeconds * 1000) this.#readSince = now
    this.#tickedAt = now
    if (now - this.#beatAt >= this.#times.heartbeatSeconds * 1000) await this.#beat(now)
    await this.#readEvents()
    for (const known of this.#known.values()) if (known.jobs.size > 0) await this.#readReports(known)
    if (now - this.#lookedAt < LOOK_MS) return
    this.#lookedAt = now
    await this.#look()
  }

  async #beat(now: number): Promise<void> {
    this.#beatAt = now
    if (this.#ticket && !(await this.#queue.beat(this.#ticket)))
      this.#giveUp('another run has taken this queue over, for nothing was heard of this one')
  }

  async #readEvents(): Promise<void> {
    for (const { parcel, events } of await this.#queue.receiveEvents())
      for (const { jobs } of this.#known.values()) for (const event of events) jobs.get(parcel)?.emit(event)
  }

  async #readReports(known: Known): Promise<void> {
    const { worker, jobs } = known
    for (const { id, report } of await this.#queue.parcels(worker.ticket)) {
      const open = jobs.get(id)
      if (!open || report === null) continue
      // Its events were sent before it.
      await this.#readEvents()
      if (report.isLast) known.isLeaving = true
      jobs.delete(id)
      await this.#queue.remove(worker.ticket, id)
      open.settle({ kind: 'reported', worker: worker.sign.name, end: report.end })
      this.#hasChanged()
    }
  }

  /** Learns which workers there are. One of another version leaves by itself, and says why. */
  async #look(): Promise<void> {
    const now = this.#now()
    const { lostSeconds } = this.#times
    const found = await this.#queue.workers()
    const there = new Map(found.filter(({ sign }) => this.#isSame(sign)).map((one) => [one.ticket.id, one]))
    for (const [id, worker] of there) if (!this.#known.has(id)) this.#join(worker)
    const isReadLongEnough = now - this.#readSince > lostSeconds * 1000
    for (const [id, known] of this.#known) {
      const silent = there.get(id)?.silentSeconds
      if (silent === undefined) await this.#left(known)
      else if (silent > lostSeconds && isReadLongEnough) await this.#lose(known)
    }
    this.#countAlone(now)
  }

  #isSame({ protocol, version }: WorkerSign): boolean {
    return protocol === PROTOCOL && version === this.#version
  }

  #join(worker: QueuePlace<WorkerSign>): void {
    const jobs = new Map<string, Open>()
    this.#known.set(worker.ticket.id, { worker, jobs, isLeaving: false })
    this.#sayJoined(worker.sign)
    this.#hasChanged()
  }

  #sayJoined({ name, places, labels }: WorkerSign): void {
    this.#emit({ type: 'worker-joined', worker: name, places, labels })
  }

  async #left(known: Known): Promise<void> {
    // The worker may have reported something just before it left.
    if (known.jobs.size > 0) await this.#readReports(known)
    await this.#forget(known, 'ended', 'it has ended')
  }

  async #lose(known: Known): Promise<void> {
    const reason = `nothing was heard of it for ${formatDuration(this.#times.lostSeconds)}`
    await this.#queue.drop(known.worker.ticket)
    await this.#readReports(known)
    await this.#forget(known, 'lost', reason)
  }

  async #forget(known: Known, why: 'ended' | 'lost', reason: string): Promise<void> {
    const { ticket, sign } = known.worker
    this.#known.delete(ticket.id)
    this.#emit({ type: 'worker-left', worker: sign.name, why, reason })
    for (const open of known.jobs.values()) {
      const ended =
        why === 'lost' ? `the worker ${sign.name} was lost: ${reason}` : `the worker ${sign.name} has ended`
      open.settle({ kind: 'lost', worker: sign.name, reason: ended })
    }
    this.#hasChanged()
    await this.#queue.clear(ticket)
  }

  #countAlone(now: number): void {
    const timeout = this.#times.workerTimeoutSeconds
    const workers = this.loaded
    const untaken = workers.some(({ busy }) => busy > 0) ? null : this.#untaken
    if (workers.length > 0 && untaken === null) {
      this.#aloneSince = now
      this.#hasSaidAlone = false
      return
    }
    const alone = now - this.#aloneSince
    if (alone > timeout * 1000 && !this.#hasSaidAlone) {
      this.#hasSaidAlone = true
      const who = untaken === null ? 'no worker has come' : `no worker has come that takes ${untaken}`
      const message = `${who} within ${formatDuration(timeout)}: start one, in a clone, with ralph worker --queue ${this.#queue.url}`
      this.#emit({ type: 'warning', message })
    }
    if (alone > timeout * PATIENCE * 1000)
      this.#giveUp(`no worker has come within ${formatDuration(timeout * PATIENCE)}`)
  }

  #fails(error: unknown): void {
    const now = this.#now()
    this.#failingSince ??= now
    const { workerTimeoutSeconds: timeout, heartbeatSeconds } = this.#times
    const since = now - this.#failingSince
    if (since > heartbeatSeconds * 500 && !this.#hasSaidFailing) {
      this.#hasSaidFailing = true
      this.#emit({
        type: 'warning',
        message: `the queue cannot be reached, and is tried again: ${reasonOf(error)}`,
      })
    }
    if (since > timeout * 1000) this.#giveUp(`the queue at ${this.#queue.url} is gone: ${reasonOf(error)}`)
  }

  #isBack(): void {
    if (this.#hasSaidFailing) this.#emit({ type: 'warning', message: 'the queue can be reached again' })
    this.#failingSince = null
    this.#hasSaidFailing = false
    this.#readSince = this.#now()
  }

  #giveUp(reason: string): void {
    this.#hopeless ??= reason
    this.#hasChanged()
  }

  #hasChanged(): void {
    const wake = this.#wake
    this.#changed = this.#nextChange()
    wake()
  }

  #nextChange(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }
}

/** After this many times the wait before its warning, the run ends. */
const PATIENCE = 10
