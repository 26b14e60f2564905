import { randomUUID } from 'node:crypto'
import { basename } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { QueueState } from '../control-socket.ts'
import { logOf } from '../job.ts'
import type { Emit } from '../ports.ts'
import { formatDuration } from '../../base/time.ts'
import type { Happening } from '../events/event.ts'
import { sleep } from '../../process/sleep.ts'
import type { GivenJob } from './accept.ts'
import { reasonOf, type Queue } from './boss.ts'
import {
  PROTOCOL,
  type Batch,
  type JobEnd,
  type QueuePlace,
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
export type Delivery = ReturnType<Roster['follow']>

/** A worker, and the jobs that it has, by their parcels. */
interface Known extends Pick<QueuePlace<WorkerSign>, 'ticket' | 'sign'> {
  readonly jobs: Map<string, { readonly given: GivenJob; readonly settle: (ended: Delivered) => void }>
  /** It takes no further job. */
  isLeaving: boolean
  /** When it was last heard of, in seconds. */
  seen: number
}

const POLL_MS = 100
const LOOK_SECONDS = 1
/** After this many times the wait before its warning, the run ends. */
const PATIENCE = 10

/** The workers of a run: which there are, what each is doing, and their messages. */
export class Roster {
  readonly queue: Queue
  /** The run's place on the queue, once it has one. */
  ticket: Ticket | null = null
  /** Why the run cannot continue; null if it can. */
  hopeless: string | null = null
  /** Tasks that no present worker takes; null if there are none. */
  untaken: string | null = null
  /** Resolves when a change may let a job begin. */
  changed: Promise<void>
  readonly #times: RosterTimes
  readonly #version: string
  /** In seconds. */
  readonly #now: () => number
  readonly #known = new Map<string, Known>()
  readonly #stop = new AbortController()
  #emit: Emit<Happening> = () => undefined
  #wake: () => void = () => undefined
  #watching: Promise<void> = Promise.resolve()
  #lookedAt = -Infinity
  #beatAt = -Infinity
  #tickedAt: number
  /** Since when the queue was read without a gap: messages from before may be unread. */
  #readSince: number
  /** Since when there is nobody to give a job to. */
  #alone: { since: number; isSaid: boolean }
  /** Since when the queue cannot be reached. */
  #failing: { readonly since: number; isSaid: boolean } | null = null

  constructor(
    queue: Queue,
    { times, now, version }: { times: RosterTimes; now: () => Date; version: string },
  ) {
    this.queue = queue
    this.#times = times
    this.#version = version
    this.#now = () => now().getTime() / 1000
    this.changed = this.#nextChange()
    this.#tickedAt = this.#readSince = this.#now()
    this.#alone = { since: this.#tickedAt, isSaid: false }
  }

  /** Begins to watch, as the holder of the run's place. */
  watch(): void {
    this.#watching = this.#loop()
  }

  async end(): Promise<void> {
    this.#stop.abort()
    await this.#watching
  }

  listen(emit: Emit<Happening>): void {
    this.#emit = emit
    this.#alone.since = this.#now()
    for (const { sign } of this.#known.values()) this.#sayJoined(sign)
  }

  /** Those that can be given jobs. */
  get loaded() {
    const staying = [...this.#known.values()].filter(({ isLeaving }) => !isLeaving)
    return staying.map(({ ticket, sign, jobs }) => ({ ticket, sign, busy: jobs.size }))
  }

  /** Each worker with its tasks, and when it was last heard of. */
  get state(): QueueState['workers'] {
    return [...this.#known.values()].map(({ sign, jobs, isLeaving, seen }) => {
      const tasks = [...jobs.values()].map(({ given }) => given.job.task.id)
      const isSilent = this.#now() - seen > this.#times.lostSeconds / 2
      const state = isSilent ? 'silent' : isLeaving ? 'leaving' : tasks.length > 0 ? 'works' : 'waits'
      const { name: worker, places, labels } = sign
      return { worker, places, labels: [...labels], tasks, state, seen: new Date(seen * 1000).toISOString() }
    })
  }

  /** Lets the workers of that name end after the jobs that they have; false if there is none. */
  drain(name: string): boolean {
    const named = [...this.#known.values()].filter(({ sign }) => sign.name === name)
    for (const known of named) {
      known.isLeaving = true
      void this.#sendWord(known.ticket, { kind: 'drain' })
    }
    this.#hasChanged()
    return named.length > 0
  }

  isThere({ id }: Ticket): boolean {
    return this.#known.has(id)
  }

  /** Sends a job to a worker and follows it. */
  async give(ticket: Ticket, given: GivenJob): Promise<Delivery> {
    const id = randomUUID()
    const delivery = this.follow(ticket, id, given)
    try {
      await this.queue.give(ticket, id, given.job)
    } catch (error) {
      // The queue may be gone only for a moment: whether it stays gone is decided elsewhere.
      const reason = `it could not be given to a worker: ${reasonOf(error)}`
      this.#settle(ticket, id, { kind: 'reported', worker: 'the queue', end: { kind: 'given-back', reason } })
    }
    return delivery
  }

  /** Follows a job that was sent to a worker. */
  follow(ticket: Ticket, id: string, given: GivenJob) {
    const known = this.#known.get(ticket.id)
    const worker = known?.sign.name ?? ''
    const ended = new Promise<Delivered>((settle) => {
      if (known) known.jobs.set(id, { given, settle })
      else settle({ kind: 'lost', worker, reason: 'the worker was gone before it had the job' })
    })
    const end = (how: Extract<Word, { kind: 'end' }>['how']): Promise<void> =>
      this.#sendWord(ticket, { kind: 'end', parcel: id, how })
    return { worker, ended, end }
  }

  /** Ignores a queue that is gone for a moment: its absence has the same effect as the message. */
  async #sendWord(ticket: Ticket, word: Word): Promise<void> {
    try {
      await this.queue.sendWord(ticket, word)
    } catch {
      return
    }
  }

  #settle({ id }: Ticket, parcel: string, ended: Delivered): void {
    const jobs = this.#known.get(id)?.jobs
    jobs?.get(parcel)?.settle(ended)
    jobs?.delete(parcel)
    this.#hasChanged()
  }

  async #loop(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        await this.#tick()
        if (this.#failing) this.#isBack(this.#failing)
      } catch (error) {
        this.#fails(reasonOf(error))
      }
      await sleep(POLL_MS, this.#stop.signal)
    }
  }

  async #tick(): Promise<void> {
    const now = this.#now()
    const { heartbeatSeconds } = this.#times
    // After a sleep of this machine no message was read: living workers will send new ones.
    if (now - this.#tickedAt > heartbeatSeconds) this.#readSince = now
    this.#tickedAt = now
    if (now - this.#beatAt >= heartbeatSeconds) {
      this.#beatAt = now
      if (this.ticket && !(await this.queue.beat(this.ticket)))
        this.#giveUp('another run has taken this queue over, for nothing was heard of this one')
    }
    await this.#readEvents()
    for (const known of this.#known.values()) if (known.jobs.size > 0) await this.#readReports(known)
    if (now - this.#lookedAt < LOOK_SECONDS) return
    this.#lookedAt = now
    await this.#look(now)
    this.#countAlone(now)
  }

  async #readEvents(): Promise<void> {
    for (const batch of await this.queue.receiveEvents())
      for (const known of this.#known.values()) this.#pass(known, batch)
  }

  /** Passes the events of a job on. */
  #pass({ ticket, sign, jobs }: Known, { parcel, events }: Batch): void {
    const given = jobs.get(parcel)?.given
    if (!given) return
    const { emit, ports } = given
    for (const event of events) {
      emit(event.type === 'attempt-started' ? { ...event, worker: sign.name } : event)
      if (event.type === 'question') void this.#ask(event, ports, { ticket, parcel })
    }
  }

  /** Asks here what the agent there asks. */
  async #ask(
    { id, text, options }: Extract<Happening, { type: 'question' }>,
    { ask, control }: GivenJob['ports'],
    { ticket, parcel }: { ticket: Ticket; parcel: string },
  ): Promise<void> {
    const answer = await ask({ id, text, options }, control.signal)
    if (answer !== null) await this.#sendWord(ticket, { kind: 'answer', parcel, answer })
  }

  async #readReports(known: Known): Promise<void> {
    const { ticket, sign, jobs } = known
    for (const { id, report } of await this.queue.parcels(ticket)) {
      if (!jobs.has(id) || report === null) continue
      // Its events were sent before it.
      await this.#readEvents()
      if (report.isLast) known.isLeaving = true
      if (report.log !== null) keepLog(jobs.get(id)!.given, report.log)
      await this.queue.remove(ticket, id)
      this.#settle(ticket, id, { kind: 'reported', worker: sign.name, end: report.end })
    }
  }

  /** Learns which workers there are. One of another version leaves by itself, and says why. */
  async #look(now: number): Promise<void> {
    const { lostSeconds } = this.#times
    const there = new Map<string, number>()
    for (const { ticket, sign, silentSeconds } of await this.queue.workers()) {
      if (sign.protocol !== PROTOCOL || sign.version !== this.#version) continue
      there.set(ticket.id, silentSeconds)
      const before = this.#known.get(ticket.id)
      if (before) before.seen = now - silentSeconds
      if (before) continue
      const seen = now - silentSeconds
      this.#known.set(ticket.id, { ticket, sign, jobs: new Map(), isLeaving: false, seen })
      this.#sayJoined(sign)
      this.#hasChanged()
    }
    const isReadLongEnough = now - this.#readSince > lostSeconds
    for (const [id, known] of this.#known) {
      const silent = there.get(id)
      if (silent === undefined) await this.#forget(known, 'ended', 'it has ended')
      else if (silent > lostSeconds && isReadLongEnough) {
        await this.queue.drop(known.ticket)
        await this.#forget(known, 'lost', `nothing was heard of it for ${formatDuration(lostSeconds)}`)
      }
    }
  }

  #sayJoined({ name, places, labels }: WorkerSign): void {
    this.#emit({ type: 'worker-joined', worker: name, places, labels })
  }

  async #forget(known: Known, why: 'ended' | 'lost', reason: string): Promise<void> {
    const { ticket, sign, jobs } = known
    // The worker may have reported something just before it left.
    if (jobs.size > 0) await this.#readReports(known)
    this.#known.delete(ticket.id)
    this.#emit({ type: 'worker-left', worker: sign.name, why, reason })
    const end = why === 'lost' ? `was lost: ${reason}` : 'has ended'
    for (const { settle } of jobs.values())
      settle({ kind: 'lost', worker: sign.name, reason: `the worker ${sign.name} ${end}` })
    this.#hasChanged()
    await this.queue.clear(ticket)
  }

  #countAlone(now: number): void {
    const timeout = this.#times.workerTimeoutSeconds
    const { untaken } = this
    const isWorking = [...this.#known.values()].some(({ jobs }) => jobs.size > 0)
    if (isWorking || (this.loaded.length > 0 && untaken === null)) {
      this.#alone = { since: now, isSaid: false }
      return
    }
    const seconds = now - this.#alone.since
    if (seconds > timeout && !this.#alone.isSaid) {
      this.#alone.isSaid = true
      const who = untaken === null ? 'no worker has come' : `no worker has come that takes ${untaken}`
      this.#warn(
        `${who} within ${formatDuration(timeout)}: start one, in a clone, with ralph worker --queue ${this.queue.url}`,
      )
    }
    if (seconds > timeout * PATIENCE)
      this.#giveUp(`no worker has come within ${formatDuration(timeout * PATIENCE)}`)
  }

  #fails(reason: string): void {
    const { workerTimeoutSeconds, heartbeatSeconds } = this.#times
    const failing = (this.#failing ??= { since: this.#now(), isSaid: false })
    const seconds = this.#now() - failing.since
    if (seconds > heartbeatSeconds / 2 && !failing.isSaid) {
      failing.isSaid = true
      this.#warn(`the queue cannot be reached, and is tried again: ${reason}`)
    }
    if (seconds > workerTimeoutSeconds) this.#giveUp(`the queue at ${this.queue.url} is gone: ${reason}`)
  }

  #isBack({ isSaid }: { isSaid: boolean }): void {
    if (isSaid) this.#warn('the queue can be reached again')
    this.#failing = null
    this.#readSince = this.#now()
  }

  #warn(message: string): void {
    this.#emit({ type: 'warning', message })
  }

  #giveUp(reason: string): void {
    this.hopeless ??= reason
    this.#hasChanged()
  }

  #hasChanged(): void {
    const wake = this.#wake
    this.changed = this.#nextChange()
    wake()
  }

  #nextChange(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }
}

/** Writes the log of an agent to where it would be if the attempt had been made here. */
function keepLog({ job, ports }: GivenJob, packed: string): void {
  let text: Uint8Array
  try {
    text = gunzipSync(Buffer.from(packed, 'base64'), { maxOutputLength: MOST_LOG })
  } catch {
    // The worker has it.
    return
  }
  const log = ports.logs.open(basename(logOf(job)))
  log.write(text)
  log.close()
}

const MOST_LOG = 128 * 1024 * 1024

/** A worker, and how many jobs it has. */
export type Loaded = Roster['loaded'][number]

/** Whether a worker with these labels takes a task with those. */
export function takes(worker: readonly string[], task: readonly string[]): boolean {
  if (worker.length === 0) return true
  const words = new Set(task.map((label) => label.toLowerCase()))
  return worker.some((label) => words.has(label.toLowerCase()))
}

/**
 * The worker for a task with these labels: among those that take it the one of that name, else the one with the most free
 * places; null if all are full.
 */
export function placeFor(
  labels: readonly string[],
  workers: readonly Loaded[],
  name?: string,
): Loaded | null {
  const room = ({ sign, busy }: Loaded): number => sign.places - busy
  const free = workers.filter((worker) => room(worker) > 0 && takes(worker.sign.labels, labels))
  // Workers without labels stay free for tasks that no other takes.
  const rank = ({ sign }: Loaded): number => Math.sign(sign.labels.length)
  const named = free.find(({ sign }) => sign.name === name)
  return named ?? free.toSorted((a, b) => rank(b) - rank(a) || room(b) - room(a))[0] ?? null
}
