import { readFileSync } from 'node:fs'
import { writeFileAtomic } from '../base/atomic-file.ts'
import type { RunEvent } from '../events/event.ts'
import { asksIn } from '../task/finish.ts'
import type { Task } from '../task/model.ts'
import type { RunFolder } from './folder.ts'

/**
 * `.ralph/state.json`: for people and programs that observe a run, in the fields that other tools use. ralph decides
 * nothing by it.
 */
interface RunState {
  readonly version: '1.0'
  readonly written_by: 'ralph'
  readonly created_at: string
  readonly updated_at: string
  readonly phase: StatePhase
  /** The planned wish; null if there was none. */
  readonly original_request: string | null
  readonly task_order: readonly string[]
  readonly task_statuses: Readonly<Record<string, TaskProgress>>
  readonly last_failure: LastFailure | null
}

/** The first four belong to planning. */
type StatePhase =
  'research' | 'decisions' | 'planning' | 'planning_complete' | 'idle' | 'executing' | 'completed' | 'failed'

/** `blocked`: the agent has asked a question, and nothing has failed. */
type TaskProgress = 'pending' | 'in_progress' | 'completed' | 'failed' | 'blocked'

export interface LastFailure {
  readonly task_id: string
  readonly task_title: string
  readonly error_message: string
  readonly failed_at: string
  readonly log_file: string | null
}

/** Keeps the file up to date with the events of a run. */
export function stateKeeper(
  { state: path }: RunFolder,
  tasks: readonly Task[],
  now: Date,
): (event: RunEvent) => void {
  let state = initialState(tasks, now, readState(path))
  // Each of several jobs has its own title.
  const titles = new Map<string, string>()
  const logs = new Map<string, string>()
  return (event) => {
    const id = 'id' in event ? event.id : ''
    if (event.type === 'task-started') titles.set(id, event.task.title)
    if (event.type === 'attempt-started') logs.set(id, event.log)
    const next = stateAfter(state, event, { title: titles.get(id) ?? '', log: logs.get(id) ?? null })
    if (next === state) return
    state = { ...next, updated_at: event.at }
    writeFileAtomic(path, JSON.stringify(state, null, 2) + '\n')
  }
}

/** The state after an event; the same object if the event changes nothing. */
export function stateAfter(
  state: RunState,
  event: RunEvent,
  current: { readonly title: string; readonly log: string | null },
): RunState {
  const mark = (id: string, progress: TaskProgress): RunState => ({
    ...state,
    task_order: state.task_order.includes(id) ? state.task_order : [...state.task_order, id],
    task_statuses: { ...state.task_statuses, [id]: progress },
  })
  const failure = (id: string, message: string): LastFailure => ({
    task_id: id,
    task_title: current.title,
    error_message: message,
    failed_at: event.at,
    log_file: current.log,
  })
  switch (event.type) {
    case 'run-started':
      return { ...state, phase: 'executing' }
    case 'task-started':
      return mark(event.task.id, 'in_progress')
    case 'attempt-finished':
      if (event.outcome === 'done' || event.outcome === 'blocked') return state
      return { ...state, last_failure: failure(event.id, event.reason) }
    case 'task-completed':
      return mark(event.id, 'completed')
    case 'task-blocked':
      if (event.asks) return mark(event.id, 'blocked')
      return { ...mark(event.id, 'failed'), last_failure: failure(event.id, event.reason) }
    case 'task-given-up':
      return { ...mark(event.id, 'failed'), last_failure: failure(event.id, event.reason) }
    case 'run-finished':
      return {
        ...state,
        phase: phaseAtEnd(event, state.task_statuses),
        task_statuses: putDown(state.task_statuses, event.failed),
      }
    default:
      return state
  }
}

/** The statuses after the end of a run: an interrupted task waits for the next run. */
function putDown(statuses: RunState['task_statuses'], failed: readonly string[]): RunState['task_statuses'] {
  const after = (id: string): TaskProgress => (failed.includes(id) ? 'failed' : 'pending')
  const entries = Object.entries(statuses)
  return Object.fromEntries(
    entries.map(([id, progress]) => [id, progress === 'in_progress' ? after(id) : progress]),
  )
}

function phaseAtEnd(
  event: Extract<RunEvent, { type: 'run-finished' }>,
  statuses: RunState['task_statuses'],
): StatePhase {
  const asking = event.blocked.filter((id) => statuses[id] === 'blocked').length
  const failed = event.blocked.length - asking + event.failed.length
  if (event.end === 'failed' || event.end === 'stopped' || failed > 0) return 'failed'
  if (asking > 0) return 'idle'
  return event.end === 'interrupted' || event.end === 'budget' ? 'idle' : 'completed'
}

/** The state of tasks that nobody works on. */
export function initialState(
  tasks: readonly Task[],
  now: Date,
  before: Partial<Pick<RunState, 'created_at' | 'original_request'>> = {},
): RunState {
  const progress = { TODO: 'pending', DONE: 'completed', BLOCKED: 'failed' } as const
  const progressOf = (task: Task): TaskProgress =>
    task.status === 'BLOCKED' && asksIn(task) ? 'blocked' : progress[task.status ?? 'TODO']
  return {
    version: '1.0',
    written_by: 'ralph',
    created_at: before.created_at ?? now.toISOString(),
    updated_at: now.toISOString(),
    phase: 'idle',
    original_request: before.original_request ?? null,
    task_order: tasks.map((task) => task.id),
    task_statuses: Object.fromEntries(tasks.map((task) => [task.id, progressOf(task)])),
    last_failure: null,
  }
}

/** Writes the progress of planning for observers. */
export function mirrorPlanning(
  { state: path }: Pick<RunFolder, 'state'>,
  { phase, request }: { readonly phase: StatePhase; readonly request: string },
  { tasks, now }: { readonly tasks: readonly Task[]; readonly now: Date },
): void {
  const state = { ...initialState(tasks, now, readState(path)), phase, original_request: request }
  writeFileAtomic(path, JSON.stringify(state, null, 2) + '\n')
}

/** The fields that outlive a run. */
function readState(path: string): Pick<Partial<RunState>, 'created_at' | 'original_request'> {
  try {
    const read: unknown = JSON.parse(readFileSync(path, 'utf8'))
    if (typeof read !== 'object' || read === null) return {}
    return {
      ...('created_at' in read && typeof read.created_at === 'string' ? { created_at: read.created_at } : {}),
      ...('original_request' in read && typeof read.original_request === 'string'
        ? { original_request: read.original_request }
        : {}),
    }
  } catch {
    return {}
  }
}
