import type { Outcome } from '../outcome.ts'
import type { Denial, Usage } from '../../base/nouns.ts'
import type { Resumable } from '../prepare.ts'
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

/** A worker's report when a job has ended there. */
export interface Report {
  readonly end: JobEnd
  /** Whether the worker takes no further job. */
  readonly isLast: boolean
  /** The log of its agent, in gzip and base64; null if there is none. */
  readonly log: string | null
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
      /** The conversation that the next attempt can go on with there. */
      readonly resume: Resumable | null
    }
  /** The worker could not make the attempt: it lacks something, or ends. */
  | { readonly kind: 'given-back'; readonly reason: string }

/** A message from a run to a worker: about a job there, or that it is to take no more. */
export type Word =
  | { readonly kind: 'end'; readonly parcel: string; readonly how: 'clean' | 'now' | 'skip' }
  | { readonly kind: 'answer'; readonly parcel: string; readonly answer: string }
  | { readonly kind: 'drain' }

/** Events of a job, in order. */
export interface Batch {
  readonly parcel: string
  readonly events: readonly Happening[]
}
