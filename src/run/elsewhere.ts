import type { Result } from '../attempt/attempt.ts'
import type { Job } from '../attempt/job.ts'
import type { AttemptPorts, Emit } from '../attempt/ports.ts'
import type { Happening } from '../events/event.ts'
import type { Task } from '../task/model.ts'

/** An attempt that a worker makes for a run that has died. */
export interface UnderWay {
  readonly job: Job
  readonly worker: string
  /** Once its candidate or record is here; or nothing came of it. */
  readonly ended: Promise<'ended' | 'lost'>
}

/** Where the attempts of a run are made that are not made here: by workers, which a queue leads to. */
export interface Elsewhere {
  /** What workers are to be started with, without its password. */
  readonly url: string
  /** Takes the run's place on the queue, and fetches what an earlier one has left; throws where another run has that place. */
  begin(run: { readonly id: string; readonly branch: string; readonly emit: Emit<Happening> }): Promise<void>
  /** From here on somebody hears what happens: workers come, go and are lost. */
  listen(emit: Emit<Happening>): void
  /** What goes on from an earlier run. */
  underWay(): readonly UnderWay[]
  /** How many attempts workers can make at once by now. */
  readonly places: number
  /** Those of these tasks for which a worker is free that takes them. */
  takeable(tasks: readonly Task[]): Promise<readonly Task[]>
  /** Keeps a place for the first attempt at a task; false where none is free. */
  promise(task: Task): boolean
  /** The task needs none any more. */
  forget(task: string): void
  /** Resolves when a worker has come, gone, or become free. */
  changed(): Promise<void>
  /** Why nothing more can be done: no worker has come in all this time, or the queue is gone; null while something can. */
  readonly hopeless: string | null
  /** The same as an attempt here: what passes is a candidate in this repository, what fails a record. */
  attempt(job: Job, ports: AttemptPorts, emit: Emit<Happening>): Promise<Result>
  /** Gives the place up. */
  end(): Promise<void>
}
