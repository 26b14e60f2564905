import type { Task } from '../../backlog/model.ts'
import type { Happening } from '../events/event.ts'
import type { Result } from '../attempt.ts'
import type { Job } from '../job.ts'
import type { AttemptPorts, Emit } from '../ports.ts'
import type { Branch } from '../slot/branch.ts'

/** What making an attempt elsewhere uses here. */
export type RemoteAttemptPorts = Omit<AttemptPorts, 'slot' | 'work' | 'check'>

/** Makes attempts by workers, over a queue. */
export interface Workers {
  /** The URL for workers to start with, without its password. */
  readonly url: string
  /** Takes the run's place on the queue, and fetches what an earlier run has left; throws if another run has that place. */
  begin(run: { readonly id: string; readonly branch: string; readonly emit: Emit<Happening> }): Promise<void>
  /** The same branch, which is now shared with the remote that workers fetch from. */
  shared(branch: Branch): Branch
  /** Emits from here on what happens to workers: they come, go and are lost. */
  listen(emit: Emit<Happening>): void
  /** How many attempts workers can make at once now. */
  readonly places: number
  /** Those of these tasks for which a suitable worker is free, besides those that are `working`. */
  takeable(tasks: readonly Task[], working: readonly Task[]): Promise<readonly Task[]>
  /** Resolves when a worker has come, gone, or become free. */
  changed(): Promise<void>
  /** Why the run cannot continue: no worker has come for too long, or the queue is gone; null if it can. */
  readonly hopeless: string | null
  /** Does the same as an attempt here: what passes is a candidate in this repository, what fails a record. */
  attempt(job: Job, ports: RemoteAttemptPorts, emit: Emit<Happening>): Promise<Result>
  /** Leaves the queue. */
  end(): Promise<void>
}
