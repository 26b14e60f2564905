import type {
  RunEvent,
  RunFinished,
  RunStarted,
  StopMode,
  TaskStarted,
  WorkerJoined,
} from '../engine/events/event.ts'
import type { QueueState } from '../engine/control-socket.ts'
import { formatDuration } from '../base/time.ts'
import type { GateResult, Usage } from '../base/nouns.ts'
import { sum, UNKNOWN_USAGE } from '../base/usage.ts'

type EventOf<Type extends RunEvent['type']> = Extract<RunEvent, { type: Type }>

/** The state of a run according to its journal, during it or after its end. */
export interface RunStatus
  extends
    Pick<RunStarted, 'run' | 'root' | 'branch' | 'head' | 'agent' | 'budget' | 'queue'>,
    Pick<RunFinished, 'completed' | 'blocked' | 'failed'> {
  readonly since: string
  /** How many tasks it works on at once. */
  readonly atOnce: number
  /** The number of tasks in the whole backlog, and how many of them are done or blocked by now. */
  readonly progress: { readonly tasks: number; readonly done: number; readonly blocked: number }
  /** In dollars: the known cost of finished attempts. */
  readonly cost: number | null
  readonly paused: boolean
  readonly stopping: boolean
  /** How it is to end; null if it is not stopping, or if its journal does not say so. */
  readonly stop: StopMode | null
  /** The tasks under way. */
  readonly jobs: readonly JobStatus[]
  /** The workers of the run, if it has any, with the tasks whose attempts they make now. */
  readonly workers: readonly (Pick<WorkerJoined, 'worker' | 'places' | 'labels'> & {
    readonly tasks: readonly string[]
    /** What the run says of it; absent if it does not answer. */
    readonly state?: QueueState['workers'][number]['state']
    /** When it was last heard of. */
    readonly seen?: string
  })[]
  /** Questions without an answer. */
  readonly questions: readonly Pick<EventOf<'question'>, 'id' | 'text' | 'options'>[]
  /** Candidates that have not landed yet: these files of the person's are in the way. */
  readonly held: readonly Pick<EventOf<'landing-finished'>, 'id' | 'paths'>[]
  /** Null while it runs, and for a run that died. */
  readonly ended: Pick<EventOf<'run-finished'>, 'at' | 'end' | 'reason'> | null
}

/** The runs of a checkout. */
export interface RunOverview {
  /** The current run; null if there is none. */
  readonly run:
    | (RunStatus & {
        readonly pid: number
        readonly host: string
        /** Tasks for which no worker is free. */
        readonly waiting: readonly string[]
      })
    | null
  /** The last run that has ended or died. */
  readonly last: RunStatus | null
  /** Candidates that have not landed. */
  readonly candidates: readonly { readonly id: string; readonly attempt: number; readonly ref: string }[]
}

/** A task under way. */
export interface JobStatus extends Pick<TaskStarted, 'id' | 'agent' | 'limits'> {
  readonly title: string
  /** The number of ralph's own workspace; null for the checkout. */
  readonly workspace: number | null
  /** The number of the attempt among those that count, and how many the task has; null before the first. */
  readonly attempt: { readonly counted: number; readonly most: number; readonly since: string } | null
  readonly doing: 'agent' | 'person' | 'gates' | 'landing' | 'waiting'
  /** Since when. */
  readonly since: string
  /** The usage of the current attempt, as far as its agent has reported it. */
  readonly usage: Usage
  /** The gate results of the current attempt. */
  readonly gates: readonly GateResult[]
  /** The agent's last progress signal, the reason of a wait, or the current gate. */
  readonly note: string
  readonly until: string | null
}

/** The cost of a run with its current attempts; null if it is unknown. */
export function costSoFar({ cost, jobs }: RunStatus): number | null {
  return sum(cost, ...jobs.map(({ usage }) => usage.costUsd))
}

/** The status after an event. */
export function statusAfter(status: RunStatus | null, event: RunEvent): RunStatus | null {
  if (event.type !== 'run-started') return status && { ...status, ...changed(status, event) }
  const { run, at: since, root, branch, head, agent, jobs: atOnce, counts, budget, queue } = event
  const { TODO, DONE, BLOCKED } = counts
  return {
    run,
    since,
    root,
    branch,
    head,
    agent,
    atOnce,
    progress: { tasks: TODO + DONE + BLOCKED, done: DONE, blocked: BLOCKED },
    budget,
    queue,
    cost: null,
    paused: false,
    stopping: false,
    stop: null,
    jobs: [],
    workers: [],
    questions: [],
    completed: [],
    blocked: [],
    failed: [],
    held: [],
    ended: null,
  }
}

/** What an event changes. */
function changed(status: RunStatus, event: RunEvent): Partial<RunStatus> {
  const { jobs, workers, questions, progress, held } = status
  const job = (id: string, change: Partial<JobStatus>): Partial<RunStatus> => ({
    jobs: jobs.map((one) => (one.id === id ? { ...one, ...change } : one)),
  })
  const begins = (id: string, doing: JobStatus['doing'], change: Partial<JobStatus> = {}) =>
    job(id, { doing, since: event.at, note: '', until: null, ...change })
  const over = (id: string): Partial<RunStatus> => ({
    jobs: without(jobs, id),
    questions: without(questions, id),
    held: without(held, id),
  })
  switch (event.type) {
    case 'task-started': {
      const { id, task, workspace = null, agent, limits, at: since } = event
      const begun: JobStatus = { id, title: task.title, workspace, agent, limits, since, ...IDLE }
      const tasks = Math.max(progress.tasks, event.tasks ?? 0)
      return { jobs: [...without(jobs, id), begun], progress: { ...progress, tasks } }
    }
    case 'attempt-started': {
      const { id, counted, most, agent, at: since } = event
      const attempt = { counted, most, since }
      return {
        ...begins(id, 'agent', { attempt, agent, usage: UNKNOWN_USAGE, gates: [] }),
        workers: withTask(workers, id, event.worker),
      }
    }
    case 'worker-joined': {
      const { worker, places, labels } = event
      const others = workers.filter((one) => one.worker !== worker)
      return { workers: [...others, { worker, places, labels, tasks: [] }] }
    }
    case 'worker-left':
      return { workers: workers.filter(({ worker }) => worker !== event.worker) }
    case 'candidate-ready':
      return {
        ...begins(event.id, 'waiting', { note: 'waits to land' }),
        workers: withTask(workers, event.id),
      }
    case 'agent-signal':
      return job(event.id, { note: event.text, until: null })
    case 'agent-usage':
      return job(event.id, { usage: event.usage, until: null })
    case 'agent-retrying':
      return job(event.id, { note: event.reason, until: event.until })
    case 'taken-over':
      return begins(event.id, 'person')
    case 'gate-started':
      return begins(event.id, 'gates', { note: event.gate.name })
    case 'gate-finished': {
      const { id, result } = event
      const before = jobs.find((one) => one.id === id)?.gates ?? []
      return job(id, { gates: [...before.filter(({ gate }) => gate.name !== result.gate.name), result] })
    }
    case 'gates-again':
      return job(event.id, { gates: [] })
    case 'landing-started':
      return begins(event.id, 'landing')
    case 'sealing':
      return job(event.id, { note: `seals (about ${formatDuration(event.expectedSeconds)} in all)` })
    case 'landing-finished': {
      const { id, result, paths } = event
      return { held: [...without(held, id), ...(result === 'held' ? [{ id, paths }] : [])] }
    }
    case 'waiting':
      return begins(event.id, 'waiting', { note: event.reason, until: event.until })
    case 'question': {
      const { id, text, options } = event
      return { questions: [...without(questions, id), { id, text, options }] }
    }
    case 'answered':
      return { questions: without(questions, event.id) }
    case 'attempt-finished': {
      const { id, usage } = event
      return {
        ...begins(id, 'waiting', { usage: UNKNOWN_USAGE }),
        cost: sum(status.cost, usage.costUsd),
        workers: withTask(workers, id),
        questions: without(questions, id),
      }
    }
    case 'task-added':
      return { progress: { ...progress, tasks: progress.tasks + 1 } }
    case 'task-completed':
      return {
        ...over(event.id),
        completed: [...status.completed, event.id],
        progress: { ...progress, done: progress.done + 1 },
      }
    case 'task-blocked':
      return {
        ...over(event.id),
        blocked: [...status.blocked, event.id],
        progress: { ...progress, blocked: progress.blocked + 1 },
      }
    case 'task-given-up':
      return { ...over(event.id), failed: [...status.failed, event.id] }
    case 'paused':
      return { paused: true }
    case 'resumed':
      return { paused: false }
    case 'stopping':
      return { stopping: true, stop: event.how ?? null }
    case 'run-finished': {
      const { at, end, reason, completed, blocked, failed } = event
      const ended = { at, end, reason }
      return { jobs: [], workers: [], questions: [], completed, blocked, failed, ended }
    }
    default:
      return {}
  }
}

/** A task without an attempt so far. */
const IDLE = {
  attempt: null,
  doing: 'waiting',
  note: '',
  until: null,
  usage: UNKNOWN_USAGE,
  gates: [],
} as const

function without<T extends { readonly id: string }>(all: readonly T[], id: string): readonly T[] {
  return all.filter((one) => one.id !== id)
}

/** The workers with the task at that one, and at no other. */
function withTask(workers: RunStatus['workers'], id: string, at?: string): RunStatus['workers'] {
  return workers.map((one) => {
    const tasks = one.tasks.filter((task) => task !== id)
    return { ...one, tasks: one.worker === at ? [...tasks, id] : tasks }
  })
}
