import type { Outcome } from '../outcome.ts'
import type { Job } from '../job.ts'
import type { Denial, Usage } from '../../base/nouns.ts'
import type { Happening } from '../events/event.ts'
import type { Machine } from '../../process/table.ts'

/** The version of the messages between a run and its workers: another version is not understood. */
export const PROTOCOL = 1

/** The run that has the queue, as its workers see it. */
export interface RunSign {
  readonly protocol: number
  /** The version of ralph. */
  readonly version: string
  readonly run: string
  readonly machine: Machine
  readonly pid: number
  readonly branch: string
  /** Whether the queue ends with the run. */
  readonly isEmbedded: boolean
  readonly heartbeatSeconds: number
}

/** A worker, as the run sees it. */
export interface WorkerSign {
  readonly protocol: number
  readonly version: string
  /** Its name, also on the screen. */
  readonly name: string
  readonly pid: number
  /** The number of jobs that it does at once. */
  readonly places: number
  /** It takes only tasks with one of these labels; all tasks if it has none. */
  readonly labels: readonly string[]
}

/** A place on the queue that its holder keeps by heartbeats. */
export interface Ticket {
  readonly of: 'run' | 'workers'
  readonly id: string
}

/** A place, and how long nothing was heard of its holder, by the queue's clock: those of the machines may differ. */
export interface QueuePlace<Sign> {
  readonly ticket: Ticket
  readonly sign: Sign
  readonly silentSeconds: number
}

/** A job on its way to a worker, or there. */
export interface Parcel {
  readonly id: string
  readonly job: Job
  readonly isTaken: boolean
  /** The end of the job; null while it runs. */
  readonly report: Report | null
}

/** A worker's report when a job has ended there. */
export interface Report {
  readonly end: JobEnd
  /** Whether the worker takes no further job. */
  readonly isLast: boolean
}

/** How a job has ended at a worker. The work itself is on refs of the remote. */
export type JobEnd =
  | {
      readonly kind: 'passed'
      readonly candidate: string
      readonly denied: readonly Denial[]
    }
  | {
      readonly kind: 'failed'
      readonly outcome: Omit<Outcome, 'until'> & { readonly until: string | null }
      readonly record: string | null
      readonly usage: Usage
    }
  /** The worker could not make the attempt: it lacks something, or ends. */
  | { readonly kind: 'given-back'; readonly reason: string }

/** A message from a run to a worker about a job there. */
export type Word =
  | { readonly kind: 'end'; readonly parcel: string; readonly how: 'clean' | 'now' | 'skip' }
  | { readonly kind: 'answer'; readonly parcel: string; readonly answer: string }

/** Events of a job, in order. */
export interface Batch {
  readonly parcel: string
  readonly events: readonly Happening[]
}

/** Carries jobs to workers and back, independent of its technology. Each call throws if the queue cannot be reached. */
export interface Queue {
  /** Its URL, without a password. */
  readonly url: string
  /** Takes the run's place; null if another run has it. */
  takeRun(sign: RunSign): Promise<Ticket | null>
  /** The holder of the run's place. */
  run(): Promise<QueuePlace<RunSign> | null>
  join(sign: WorkerSign): Promise<Ticket>
  workers(): Promise<readonly QueuePlace<WorkerSign>[]>
  /** Sends a heartbeat; false if the place has been taken away. */
  beat(ticket: Ticket): Promise<boolean>
  /** Gives a place up, or takes it away; messages on their way to a worker stay. */
  drop(ticket: Ticket): Promise<void>
  /** Removes the messages to a worker that is gone. */
  clear(worker: Ticket): Promise<void>
  /** Removes all messages that nobody waits for: those to workers that are gone, and those that nobody read. */
  sweep(): Promise<void>
  /** Sends a job to a worker, as a parcel with that id. */
  give(worker: Ticket, parcel: string, job: Job): Promise<void>
  /** Every job that was sent to the worker and not removed. */
  parcels(worker: Ticket): Promise<readonly Parcel[]>
  remove(worker: Ticket, parcel: string): Promise<void>
  sendWord(worker: Ticket, word: Word): Promise<void>
  /** The messages for a worker, which owns the jobs among them from now on. */
  receive(worker: Ticket): Promise<{
    readonly jobs: readonly { readonly parcel: string; readonly job: Job }[]
    readonly words: readonly Word[]
  }>
  report(worker: Ticket, parcel: string, report: Report): Promise<void>
  /** Sends events to the run. */
  sendEvents(batch: Batch): Promise<void>
  /** The events that workers have sent since the last call, in the order of each worker. */
  receiveEvents(): Promise<readonly Batch[]>
  close(): Promise<void>
}
