import type { RunEnd, RunEvent, StopMode, TaskStarted } from '../engine/events/event.ts'
import { formatDuration } from '../base/time.ts'
import type { GateResult, Usage } from '../base/nouns.ts'
import { sum, UNKNOWN_USAGE } from '../base/usage.ts'

/** The state of a run according to its journal, during it or after its end. */
export interface RunStatus {
  readonly run: string
  readonly since: string
  readonly root: string
  readonly branch: string | null
  readonly head: string
  readonly agent: string
  /** How many tasks it works on at once. */
  readonly atOnce: number
  /** The number of tasks in the whole backlog, and how many of them are done or blocked by now. */
  readonly progress: { readonly tasks: number; readonly done: number; readonly blocked: number }
  /** In dollars: the known cost of finished attempts. */
  readonly cost: number | null
  /** In dollars: the most that the run may cost. */
  readonly budget: number | null
  readonly paused: boolean
  readonly stopping: boolean
  /** How it is to end; null if it is not stopping, or if its journal does not say so. */
  readonly stop: StopMode | null
  /** The tasks under way. */
  readonly jobs: readonly JobStatus[]
  /** The workers of the run, if it has any. */
  readonly workers: readonly WorkerStatus[]
  /** Questions without an answer. */
  readonly questions: readonly {
    readonly id: string
    readonly text: string
    readonly options: readonly string[]
  }[]
  readonly completed: readonly string[]
  readonly blocked: readonly string[]
  /** Tasks that were tried and left TODO. */
  readonly failed: readonly string[]
  /** Candidates that have not landed yet: these files of the person's are in the way. */
  readonly held: readonly { readonly id: string; readonly paths: readonly string[] }[]
  /** Null while it runs, and for a run that died. */
  readonly ended: { readonly at: string; readonly end: RunEnd; readonly reason: string } | null
}

/** The runs of a checkout. */
export interface RunOverview {
  /** The current run; null if there is none. */
  readonly run: (RunStatus & { readonly pid: number; readonly host: string }) | null
  /** The last run that has ended or died. */
  readonly last: RunStatus | null
  /** Candidates that have not landed. */
  readonly candidates: readonly { readonly id: string; readonly attempt: number; readonly ref: string }[]
}

/** A task under way. */
export interface JobStatus {
  readonly id: string
  readonly title: string
  /** The number of ralph's own workspace; null for the checkout. */
  readonly workspace: number | null
  readonly agent: string
  readonly limits: TaskStarted['limits']
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

/** A worker of the run. */
interface WorkerStatus {
  readonly worker: string
  /** How many jobs it does at once. */
  readonly places: number
  readonly labels: readonly string[]
  /** The tasks whose attempts it makes now. */
  readonly tasks: readonly string[]
}

/** The status after an event. */
export function statusAfter(status: RunStatus | null, event: RunEvent): RunStatus | null {
  if (event.type === 'run-started') {
    const { run, at: since, root, branch, head, agent, jobs: atOnce, counts, budget } = event
    const { TODO, DONE, BLOCKED } = counts
    const progress = { tasks: TODO + DONE + BLOCKED, done: DONE, blocked: BLOCKED }
    return { run, since, root, branch, head, agent, atOnce, progress, budget, ...NOTHING }
  }
  return status && after(status, event)
}

const NOTHING = {
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
} as const

/** A task without an attempt so far. */
const IDLE = {
  attempt: null,
  doing: 'waiting',
  note: '',
  until: null,
  usage: UNKNOWN_USAGE,
  gates: [],
} as const

function after(status: RunStatus, event: RunEvent): RunStatus {
  const { jobs, questions, progress } = status
  const job = (id: string, change: Partial<JobStatus>): RunStatus => ({
    ...status,
    jobs: jobs.map((one) => (one.id === id ? { ...one, ...change } : one)),
  })
  const begins = (id: string, doing: JobStatus['doing'], change: Partial<JobStatus> = {}): RunStatus =>
    job(id, { doing, since: event.at, note: '', until: null, ...change })
  const over = (id: string, more: Partial<RunStatus> = {}): RunStatus => ({
    ...status,
    jobs: jobs.filter((one) => one.id !== id),
    questions: questions.filter((one) => one.id !== id),
    held: status.held.filter((one) => one.id !== id),
    ...more,
  })
  switch (event.type) {
    case 'task-started': {
      const { id, task, workspace = null, agent, limits, at: since } = event
      const begun: JobStatus = { id, title: task.title, workspace, agent, limits, since, ...IDLE }
      return { ...status, jobs: [...jobs.filter((one) => one.id !== id), begun] }
    }
    case 'attempt-started': {
      const { id, counted, most, agent, at: since } = event
      const attempt = { counted, most, since }
      const begun = begins(id, 'agent', { attempt, agent, usage: UNKNOWN_USAGE, gates: [] })
      return { ...begun, workers: withTask(status.workers, id, event.worker) }
    }
    case 'worker-joined': {
      const { worker, places, labels } = event
      const others = status.workers.filter((one) => one.worker !== worker)
      return { ...status, workers: [...others, { worker, places, labels, tasks: [] }] }
    }
    case 'worker-left':
      return { ...status, workers: status.workers.filter(({ worker }) => worker !== event.worker) }
    case 'candidate-ready':
      return {
        ...begins(event.id, 'waiting', { note: 'waits to land' }),
        workers: withTask(status.workers, event.id, undefined),
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
      return job(id, { gates: [...(jobs.find((one) => one.id === id)?.gates ?? []), result] })
    }
    case 'gates-again':
      return job(event.id, { gates: [] })
    case 'landing-started':
      return begins(event.id, 'landing')
    case 'sealing': {
      const about = `seals (about ${formatDuration(event.expectedSeconds)} in all)`
      return job(event.id, { note: about })
    }
    case 'landing-finished': {
      const { id, result, paths } = event
      const others = status.held.filter((one) => one.id !== id)
      return { ...status, held: result === 'held' ? [...others, { id, paths }] : others }
    }
    case 'waiting':
      return begins(event.id, 'waiting', { note: event.reason, until: event.until })
    case 'question': {
      const { id, text, options } = event
      return { ...status, questions: [...questions.filter((one) => one.id !== id), { id, text, options }] }
    }
    case 'answered':
      return { ...status, questions: questions.filter((one) => one.id !== event.id) }
    case 'attempt-finished': {
      const { id, usage } = event
      const cost = sum(status.cost, usage.costUsd)
      const ended = begins(id, 'waiting', { usage: UNKNOWN_USAGE })
      const workers = withTask(status.workers, id, undefined)
      return { ...ended, cost, workers, questions: questions.filter((one) => one.id !== id) }
    }
    case 'task-added':
      return { ...status, progress: { ...progress, tasks: progress.tasks + 1 } }
    case 'task-completed': {
      const done = { ...progress, done: progress.done + 1 }
      return over(event.id, { completed: [...status.completed, event.id], progress: done })
    }
    case 'task-blocked': {
      const blocked = { ...progress, blocked: progress.blocked + 1 }
      return over(event.id, { blocked: [...status.blocked, event.id], progress: blocked })
    }
    case 'task-given-up':
      return over(event.id, { failed: [...status.failed, event.id] })
    case 'paused':
      return { ...status, paused: true }
    case 'resumed':
      return { ...status, paused: false }
    case 'stopping':
      return { ...status, stopping: true, stop: event.how ?? null }
    case 'run-finished': {
      const { at, end, reason, completed, blocked, failed } = event
      return {
        ...status,
        jobs: [],
        workers: [],
        questions: [],
        completed,
        blocked,
        failed,
        ended: { at, end, reason },
      }
    }
    default:
      return status
  }
}

/** The workers with a task at that one, and at no other. */
function withTask(
  workers: readonly WorkerStatus[],
  id: string,
  at: string | undefined,
): readonly WorkerStatus[] {
  return workers.map((one) => {
    const tasks = one.tasks.filter((task) => task !== id)
    return { ...one, tasks: one.worker === at ? [...tasks, id] : tasks }
  })
}
