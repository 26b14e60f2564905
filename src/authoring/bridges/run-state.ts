import * as v from 'valibot'
import { writeFileAtomic } from '../../base/atomic-file.ts'
import { textAt } from '../../base/read-file.ts'
import { parsedJson } from '../../base/text.ts'
import type { RunEvent } from '../../engine/events/event.ts'
import { asksIn } from '../../backlog/finish.ts'
import type { Task } from '../../backlog/model.ts'

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

/** The fields that outlive a run. */
const OUTLIVING = v.partial(v.object({ created_at: v.string(), original_request: v.string() }))

/** Keeps the file up to date with the events of a run. */
export function stateKeeper(path: string, tasks: () => readonly Task[]): (event: RunEvent) => void {
  let state: RunState | null = null
  // Each of several jobs has its own title.
  const titles = new Map<string, string>()
  const logs = new Map<string, string>()
  return (event) => {
    const id = 'id' in event ? event.id : ''
    if (event.type === 'run-started') state = initialState(tasks(), new Date(event.at), readState(path))
    if (event.type === 'task-started') titles.set(id, event.task.title)
    if (event.type === 'attempt-started') logs.set(id, event.log)
    if (state === null) return
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
  before: v.InferOutput<typeof OUTLIVING> = {},
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
  path: string,
  { phase, request }: { readonly phase: StatePhase; readonly request: string },
  { tasks, now }: { readonly tasks: readonly Task[]; readonly now: Date },
): void {
  const state = { ...initialState(tasks, now, readState(path)), phase, original_request: request }
  writeFileAtomic(path, JSON.stringify(state, null, 2) + '\n')
}

function readState(path: string): v.InferOutput<typeof OUTLIVING> {
  const read = v.safeParse(OUTLIVING, parsedJson(textAt(path)))
  return read.success ? read.output : {}
}
