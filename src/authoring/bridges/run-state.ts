import { writeFileAtomic } from '../../base/atomic-file.ts'
import { textAt } from '../../base/read-file.ts'
import { isObject, parsedJson } from '../../base/text.ts'
import type { RunEvent } from '../../engine/events/event.ts'
import { asksIn } from '../../backlog/select/why-not.ts'
import type { Task } from '../../backlog/model.ts'

/** The first four belong to planning; nothing runs after it, or after a run that did not end the backlog. */
type StatePhase =
  'research' | 'decisions' | 'planning' | 'planning_complete' | 'executing' | 'completed' | 'failed'

/** `blocked`: the agent has asked a question, and nothing has failed. */
type TaskProgress = 'pending' | 'in_progress' | 'completed' | 'failed' | 'blocked'

type RunState = ReturnType<typeof initialState>

/**
 * `.ralph/state.json` with tasks that nobody works on: for people and programs that observe a run, in the fields that
 * other tools use. ralph decides nothing by it. `path` is that of an earlier one, some of whose fields outlive a run.
 */
export function initialState(tasks: readonly Task[], now: Date, path?: string) {
  const before = path === undefined ? null : parsedJson(textAt(path))
  const kept = (key: string): string | null => {
    const value = isObject(before) ? before[key] : null
    return typeof value === 'string' ? value : null
  }
  const progress = { TODO: 'pending', DONE: 'completed', BLOCKED: 'failed' } as const
  const progressOf = (task: Task): TaskProgress =>
    task.status === 'BLOCKED' && asksIn(task) ? 'blocked' : progress[task.status ?? 'TODO']
  return {
    version: '1.0',
    written_by: 'ralph',
    created_at: kept('created_at') ?? now.toISOString(),
    updated_at: now.toISOString(),
    phase: 'planning_complete' as StatePhase,
    // The planned wish; null if there was none.
    original_request: kept('original_request'),
    task_order: tasks.map((task) => task.id),
    task_statuses: Object.fromEntries(tasks.map((task) => [task.id, progressOf(task)])),
    last_failure: null as object | null,
  }
}

/** The same for now, with what a state at that path says of a plan and of the last failure. */
export function exportedState(tasks: readonly Task[], now: Date, path: string): RunState {
  const before = parsedJson(textAt(path))
  const { phase, last_failure: failure } = isObject(before) ? before : {}
  const isDone = tasks.length > 0 && tasks.every(({ status }) => status === 'DONE')
  const isBlocked = tasks.some(({ status }) => status === 'BLOCKED')
  return {
    ...initialState(tasks, now, path),
    ...(tasks.length === 0 && { phase: PLANNING.find((one) => one === phase) ?? 'planning' }),
    ...(isBlocked ? { phase: 'failed' } : isDone && { phase: 'completed' }),
    last_failure: isObject(failure) && !isDone ? failure : null,
  }
}

const PLANNING = ['research', 'decisions', 'planning'] as const

/** Keeps the file up to date with the events of a run. */
export function stateKeeper(path: string, tasks: () => readonly Task[]): (event: RunEvent) => void {
  let state: RunState | null = null
  // Each of several jobs has its own title.
  const titles = new Map<string, string>()
  const logs = new Map<string, string>()
  return (event) => {
    if (event.type === 'run-started')
      state = { ...initialState(tasks(), new Date(event.at), path), phase: 'executing' }
    if (event.type === 'task-started') titles.set(event.task.id, event.task.title)
    if (event.type === 'attempt-started') logs.set(event.id, event.log)
    if (state === null) return
    const failure = (id: string, message: string): Pick<RunState, 'last_failure'> => ({
      last_failure: {
        task_id: id,
        task_title: titles.get(id) ?? '',
        error_message: message,
        failed_at: event.at,
        log_file: logs.get(id) ?? null,
      },
    })
    const changes = changesBy(event, state, failure)
    if (changes === null) return
    state = { ...state, ...changes, updated_at: event.at }
    writeState(path, state)
  }
}

/** What an event changes; null if nothing. */
function changesBy(
  event: RunEvent,
  { task_order: order, task_statuses: statuses }: RunState,
  failure: (id: string, message: string) => Partial<RunState>,
): Partial<RunState> | null {
  const marked = (id: string, progress: TaskProgress): Partial<RunState> => ({
    task_order: order.includes(id) ? order : [...order, id],
    task_statuses: { ...statuses, [id]: progress },
  })
  switch (event.type) {
    case 'run-started':
      return {}
    case 'task-started':
      return marked(event.task.id, 'in_progress')
    case 'attempt-finished':
      if (event.outcome === 'done' || event.outcome === 'blocked') return null
      return failure(event.id, event.reason)
    case 'task-completed':
      return marked(event.id, 'completed')
    case 'task-blocked':
      if (event.asks) return marked(event.id, 'blocked')
      return { ...marked(event.id, 'failed'), ...failure(event.id, event.reason) }
    case 'task-given-up':
      return { ...marked(event.id, 'failed'), ...failure(event.id, event.reason) }
    case 'run-finished':
      return { phase: phaseAtEnd(event, statuses), task_statuses: statusesAtEnd(event, statuses) }
    default:
      return null
  }
}

type RunFinished = Extract<RunEvent, { type: 'run-finished' }>

/** An interrupted task waits for the next run. */
function statusesAtEnd(
  { failed }: RunFinished,
  statuses: RunState['task_statuses'],
): RunState['task_statuses'] {
  const after = (id: string, progress: TaskProgress): TaskProgress => {
    if (progress !== 'in_progress') return progress
    return failed.includes(id) ? 'failed' : 'pending'
  }
  return Object.fromEntries(Object.entries(statuses).map(([id, progress]) => [id, after(id, progress)]))
}

function phaseAtEnd({ end, blocked, failed }: RunFinished, statuses: RunState['task_statuses']): StatePhase {
  const isAsking = (id: string): boolean => statuses[id] === 'blocked'
  if (end === 'failed' || end === 'stopped' || failed.length > 0) return 'failed'
  if (!blocked.every(isAsking)) return 'failed'
  return blocked.length > 0 || end === 'interrupted' || end === 'budget' ? 'planning_complete' : 'completed'
}

/** Writes the progress of planning for observers. */
export function mirrorPlanning(
  path: string,
  { phase, request }: { phase: StatePhase; request: string },
  { tasks, now }: { tasks: readonly Task[]; now: Date },
): void {
  writeState(path, { ...initialState(tasks, now, path), phase, original_request: request })
}

function writeState(path: string, state: RunState): void {
  writeFileAtomic(path, JSON.stringify(state, null, 2) + '\n')
}
