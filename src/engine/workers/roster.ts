import type { Job } from '../job.ts'
import type { Emit } from '../ports.ts'
import { formatDuration } from '../../base/time.ts'
import type { Happening } from '../events/event.ts'
import { sleep } from '../../process/sleep.ts'
import { reasonOf } from './boss.ts'
import { placeFor, type Loaded } from './place.ts'
import {
  PROTOCOL,
  type Batch,
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

interface Known extends Loaded {
  worker: QueuePlace<WorkerSign>
  /** The time of its last message, by the clock here: those of two machines may differ. */
  seenAt: number
  /** Places that are reserved for a job on its way. */
  promised: number
  readonly jobs: Map<string, Open>
  readonly isRefused: boolean
  isLeaving: boolean
  readonly busy: number
}

/** A job that a worker has, and its events. */
interface Open {
  readonly emit: Emit<Happening>
  readonly early: Map<number, Batch['events']>
  next: number
  reportedAt: number | null
  readonly settle: (ended: Delivered) => void
}

/** The polling times: after a message, more are likely. */
const POLL_MS = { busy: 50, quiet: 250 }
const BUSY_MS = 3000
const LOOK_MS = 1000
/** How late events may come after the report of their job; later ones are lost. */
const LATE_MS = 5000

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
  #heardAt = -Infinity
  #aloneSince: number
  #hasSaidAlone = false
  #failingSince: number | null = null
  #hasSaidFailing = false
  #hopeless: string | null = null
  /** Tasks that no present worker takes; null if there are none. */
  #untaken: string | null = null

  constructor(
    queue: Queue,
    {
      times,
      now,
      version,
    }: { readonly times: RosterTimes; readonly now: () => Date; readonly version: string },
  ) {
    this.#queue = queue
    this.#times = times
    this.#now = () => now().getTime()
    this.#version = version
    this.#changed = this.#nextChange()
    this.#tickedAt = this.#aloneSince = this.#now()
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
    for (const { worker, isRefused } of this.#known.values()) this.#sayJoined(worker.sign, isRefused)
  }

  /** Those that can be given jobs. */
  get loaded(): readonly Loaded[] {
    return [...this.#known.values()].filter(isUsable)
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

  /** A worker for a job with these labels, and a place reserved there; null if none is free. */
  promise(labels: readonly string[]): Ticket | null {
    const found = placeFor(labels, [...this.#known.values()].filter(isUsable))
    if (!found) return null
    found.promised++
    return found.worker.ticket
  }

  /** Releases a reserved place, which is not needed, or now has its job. */
  unpromise({ id }: Ticket): void {
    const known = this.#known.get(id)
    if (known) known.promised--
    this.#hasChanged()
  }

  isThere({ id }: Ticket): boolean {
    const known = this.#known.get(id)
    return known !== undefined && isUsable(known)
  }

  /** Sends a job to a worker and follows it. */
  async give(worker: Ticket, job: Job, emit: Emit<Happening>): Promise<Delivery> {
    return this.#follow(worker, await this.#queue.give(worker, job), emit)
  }

  /** Adds a worker that was there before this run. */
  know(worker: QueuePlace<WorkerSign>): void {
    if (!this.#known.has(worker.ticket.id)) this.#join(worker, this.#now())
  }

  /** Follows a job that another run has given to the worker. */
  adopt(worker: Ticket, parcel: string, emit: Emit<Happening>): Delivery {
    return this.#follow(worker, parcel, emit)
  }

  #follow(ticket: Ticket, parcel: string, emit: Emit<Happening>): Delivery {
    const known = this.#known.get(ticket.id)
    let settle: Open['settle'] = () => undefined
    const ended = new Promise<Delivered>((resolve) => {
      settle = resolve
    })
    const name = known?.worker.sign.name ?? ''
    if (!known) settle({ kind: 'lost', worker: name, reason: 'the worker was gone before it had the job' })
    known?.jobs.set(parcel, { emit, early: new Map(), next: 0, reportedAt: null, settle })
    return {
      worker: name,
      ended,
      end: (how) => this.#sendWord(ticket, { kind: 'end', parcel, how }),
      answer: (answer) => this.#sendWord(ticket, { kind: 'answer', parcel, answer }),
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
      await sleep(this.#pollMs, this.#stop.signal)
    }
  }

  get #pollMs(): number {
    return this.#now() - this.#heardAt < BUSY_MS ? POLL_MS.busy : POLL_MS.quiet
  }

  async #tick(): Promise<void> {
    const now = this.#now()
    // After a sleep of this machine no message was read: living workers will send new ones.
    if (now - this.#tickedAt > this.#times.heartbeatSeconds * 1000) this.#forgive(now)
    this.#tickedAt = now
    if (now - this.#beatAt >= this.#times.heartbeatSeconds * 1000) await this.#beat(now)
    for (const batch of await this.#queue.receiveEvents()) this.#take(batch)
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

  #take({ parcel, number, events }: Batch): void {
    this.#heardAt = this.#now()
    for (const { jobs } of this.#known.values()) {
      const open = jobs.get(parcel)
      if (!open) continue
      open.early.set(number, events)
      for (let next = open.early.get(open.next); next; next = open.early.get(open.next)) {
        open.early.delete(open.next++)
        for (const event of next) open.emit(event)
      }
    }
  }

  async #readReports(known: Known): Promise<void> {
    for (const { id, report } of await this.#queue.parcels(known.worker.ticket)) {
      const open = known.jobs.get(id)
      if (!open || report === null) continue
      open.reportedAt ??= this.#now()
      if (open.next < report.batches && this.#now() - open.reportedAt < LATE_MS) continue
      if (report.isLast) known.isLeaving = true
      known.jobs.delete(id)
      await this.#queue.remove(known.worker.ticket, id)
      open.settle({ kind: 'reported', worker: known.worker.sign.name, end: report.end })
      this.#hasChanged()
    }
  }

  async #look(): Promise<void> {
    const now = this.#now()
    const there = await this.#queue.workers()
    for (const held of there) {
      const known = this.#known.get(held.ticket.id)
      if (!known) this.#join(held, now)
      else if (held.heardAt !== known.worker.heardAt) {
        known.seenAt = now
        known.worker = held
      }
    }
    const ids = new Set(there.map(({ ticket }) => ticket.id))
    for (const known of this.#known.values()) {
      if (!ids.has(known.worker.ticket.id)) await this.#left(known)
      else if (now - known.seenAt > this.#times.lostSeconds * 1000) await this.#lose(known)
    }
    this.#countAlone(now)
  }

  #join(worker: QueuePlace<WorkerSign>, now: number): void {
    const { protocol, version } = worker.sign
    const known: Known = {
      worker,
      seenAt: now,
      promised: 0,
      jobs: new Map(),
      isRefused: protocol !== PROTOCOL || version !== this.#version,
      isLeaving: false,
      get busy() {
        return this.jobs.size + this.promised
      },
    }
    this.#known.set(worker.ticket.id, known)
    this.#sayJoined(worker.sign, known.isRefused)
    this.#hasChanged()
  }

  #sayJoined({ name, places, labels, version }: WorkerSign, isRefused: boolean): void {
    if (!isRefused) this.#emit({ type: 'worker-joined', worker: name, places, labels })
    else {
      const reason = `it is ralph ${version}, and this is ${this.#version}: both must be the same`
      this.#emit({ type: 'worker-left', worker: name, why: 'refused', reason })
    }
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
    if (!known.isRefused) this.#emit({ type: 'worker-left', worker: sign.name, why, reason })
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
    const known = [...this.#known.values()].filter(isUsable)
    const untaken = known.some(({ busy }) => busy > 0) ? null : this.#untaken
    if (known.length > 0 && untaken === null) {
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
    // No message could be read meanwhile.
    this.#forgive(this.#now())
  }

  #forgive(now: number): void {
    for (const known of this.#known.values()) known.seenAt = now
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

function isUsable({ isRefused, isLeaving }: Known): boolean {
  return !isRefused && !isLeaving
}
