import type { RunEnd, RunEvent } from './event.ts'

/** A run as its journal tells it: while it goes on, or after its end. */
export interface RunStatus {
  readonly run: string
  readonly since: string
  readonly branch: string | null
  readonly agent: string
  readonly paused: boolean
  readonly stopping: boolean
  /** The tasks that are at work now. */
  readonly jobs: readonly JobStatus[]
  /** Who does them, where they are not done here. */
  readonly workers: readonly WorkerStatus[]
  /** What somebody is asked, and has not answered. */
  readonly questions: readonly {
    readonly id: string
    readonly text: string
    readonly options: readonly string[]
  }[]
  readonly completed: readonly string[]
  readonly blocked: readonly string[]
  /** Left TODO after trying. */
  readonly failed: readonly string[]
  /** Null while it goes on, and of a run that died. */
  readonly ended: { readonly at: string; readonly end: RunEnd; readonly reason: string } | null
}

/** What goes on in a checkout. */
export interface Situation {
  /** The run under way; null where there is none. */
  readonly run: (RunStatus & { readonly pid: number; readonly host: string }) | null
  /** The last run that is over: also one that died. */
  readonly last: RunStatus | null
  /** Work that passed and has not landed. */
  readonly candidates: readonly { readonly id: string; readonly attempt: number; readonly ref: string }[]
}

/** A task that is at work. */
export interface JobStatus {
  readonly id: string
  readonly title: string
  /** Which of the attempts that count it is, and how many the task has; null before the first. */
  readonly attempt: { readonly counted: number; readonly most: number; readonly since: string } | null
  readonly doing: 'agent' | 'gates' | 'landing' | 'waiting'
  /** What the agent has said last by its tool, what a wait is for, or the gate. */
  readonly note: string
  readonly until: string | null
}

/** A worker that is there. */
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
    const { run, at: since, branch, agent } = event
    return { run, since, branch, agent, ...NOTHING }
  }
  return status && after(status, event)
}

const NOTHING = {
  paused: false,
  stopping: false,
  jobs: [],
  workers: [],
  questions: [],
  completed: [],
  blocked: [],
  failed: [],
  ended: null,
} as const

function after(status: RunStatus, event: RunEvent): RunStatus {
  const { jobs, questions } = status
  const job = (id: string, change: Partial<JobStatus>): RunStatus => ({
    ...status,
    jobs: jobs.map((one) => (one.id === id ? { ...one, until: null, ...change } : one)),
  })
  const over = (id: string, more: Partial<RunStatus> = {}): RunStatus => ({
    ...status,
    jobs: jobs.filter((one) => one.id !== id),
    questions: questions.filter((one) => one.id !== id),
    ...more,
  })
  switch (event.type) {
    case 'task-started': {
      const { id, task } = event
      const begun = { id, title: task.title, attempt: null, doing: 'waiting', note: '', until: null } as const
      return { ...status, jobs: [...jobs.filter((one) => one.id !== id), begun] }
    }
    case 'attempt-started': {
      const { id, counted, most, at } = event
      const begun = job(id, { attempt: { counted, most, since: at }, doing: 'agent', note: '' })
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
      return { ...status, workers: withTask(status.workers, event.id, undefined) }
    case 'agent-signal':
      return job(event.id, { note: event.text })
    case 'agent-retrying':
      return job(event.id, { note: event.reason, until: event.until })
    case 'gate-started':
      return job(event.id, { doing: 'gates', note: event.gate.name })
    case 'landing-started':
      return job(event.id, { doing: 'landing', note: '' })
    case 'waiting':
      return job(event.id, { doing: 'waiting', note: event.reason, until: event.until })
    case 'question': {
      const { id, text, options } = event
      return { ...status, questions: [...questions.filter((one) => one.id !== id), { id, text, options }] }
    }
    case 'answered':
      return { ...status, questions: questions.filter((one) => one.id !== event.id) }
    case 'attempt-finished':
      return {
        ...status,
        questions: questions.filter((one) => one.id !== event.id),
        workers: withTask(status.workers, event.id, undefined),
      }
    case 'task-completed':
      return over(event.id, { completed: [...status.completed, event.id] })
    case 'task-blocked':
      return over(event.id, { blocked: [...status.blocked, event.id] })
    case 'task-given-up':
      return over(event.id, { failed: [...status.failed, event.id] })
    case 'paused':
      return { ...status, paused: true }
    case 'resumed':
      return { ...status, paused: false }
    case 'stopping':
      return { ...status, stopping: true }
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

/** The same with a task at that worker, and at no other. */
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
