import type { Outcome } from '../attempt/outcome.ts'
import type { Job } from '../attempt/job.ts'
import type { Denial } from '../events/denial.ts'
import type { Happening } from '../events/event.ts'
import type { Usage } from '../events/usage.ts'
import type { Machine } from '../process/machine.ts'

/** What a run and its workers say to each other: of another version than one's own nothing is understood. */
export const PROTOCOL = 1

/** The run that has the queue, as its workers see it. */
export interface RunSign {
  readonly protocol: number
  /** Of ralph. */
  readonly version: string
  readonly run: string
  readonly machine: Machine
  readonly pid: number
  readonly branch: string
  /** The queue ends with the run. */
  readonly isEmbedded: boolean
  readonly heartbeatSeconds: number
}

/** A worker, as the run sees it. */
export interface WorkerSign {
  readonly protocol: number
  readonly version: string
  /** Names it, on the screen too. */
  readonly name: string
  readonly pid: number
  /** How many jobs it does at once. */
  readonly places: number
  /** It does only tasks that have one of them; all tasks where it has none. */
  readonly labels: readonly string[]
}

/** A place on the queue that is somebody's for as long as it beats. */
export interface Ticket {
  readonly of: 'run' | 'workers'
  readonly id: string
}

/** A place, and when its holder last beat, in milliseconds by the clock of the queue. */
export interface Held<Sign> {
  readonly ticket: Ticket
  readonly sign: Sign
  readonly heardAt: number
}

/** A job on its way to a worker, or there. */
export interface Parcel {
  readonly id: string
  readonly job: Job
  readonly isTaken: boolean
  /** How it has ended; null while it goes on. */
  readonly report: Report | null
}

/** What a worker says when a job has ended there. */
export interface Report {
  readonly end: JobEnd
  /** How many batches of events it has sent. */
  readonly batches: number
  /** The worker takes no further job. */
  readonly isLast: boolean
}

/** How a job has ended at a worker. The work itself is on refs of the remote. */
export type JobEnd =
  | {
      readonly kind: 'passed'
      readonly candidate: string
      /** Where the agent's interference is recorded. */
      readonly record: string | null
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

/** What a run says to a worker about a job there. */
export type Word =
  | { readonly kind: 'end'; readonly parcel: string; readonly how: 'clean' | 'now' | 'skip' }
  | { readonly kind: 'answer'; readonly parcel: string; readonly answer: string }

/** Events of a job, in their order. */
export interface Batch {
  readonly parcel: string
  /** Counts the batches of the job from 0. */
  readonly number: number
  readonly events: readonly Happening[]
}

/** What carries jobs to workers and back, whatever it is made of. Each call throws where it cannot be reached. */
export interface Queue {
  /** Where it is, without a password. */
  readonly url: string
  /** The time, in milliseconds, by its own clock: those of the machines may be apart. */
  now(): Promise<number>
  /** Calls back when something has come for the holder of a place; with a worker's ticket where it came, went or reports. */
  listen(of: Ticket, heard: (from: string | null) => void): void
  /** Whether it does call back: else it has to be asked again and again. */
  readonly isListening: boolean
  /** Takes the place of the run; null where somebody has it. */
  takeRun(sign: RunSign): Promise<Ticket | null>
  /** Who has the place of the run. */
  run(): Promise<Held<RunSign> | null>
  join(sign: WorkerSign): Promise<Ticket>
  workers(): Promise<readonly Held<WorkerSign>[]>
  /** Says that the holder lives; false where the place has been taken away. */
  beat(ticket: Ticket): Promise<boolean>
  /** Gives a place up, or takes it away; what was on its way to a worker stays. */
  drop(ticket: Ticket): Promise<void>
  /** Removes what was on its way to a worker that is gone. */
  clear(worker: Ticket): Promise<void>
  /** Removes all that nobody waits for: what gone workers were sent, and what was heard by nobody. */
  sweep(): Promise<void>
  /** Sends a job to a worker. */
  give(worker: Ticket, job: Job): Promise<string>
  /** Every job that was sent to it and not removed. */
  parcels(worker: Ticket): Promise<readonly Parcel[]>
  remove(worker: Ticket, parcel: string): Promise<void>
  sendWord(worker: Ticket, word: Word): Promise<void>
  /** What has come for a worker: a job is its own from now on. */
  receive(worker: Ticket): Promise<{
    readonly jobs: readonly { readonly parcel: string; readonly job: Job }[]
    readonly words: readonly Word[]
  }>
  report(worker: Ticket, parcel: string, report: Report): Promise<void>
  /** Sends events to the run. */
  sendEvents(batch: Batch): Promise<void>
  /** What workers have sent since. */
  receiveEvents(): Promise<readonly Batch[]>
  close(): Promise<void>
}
