import type { Key } from './terminal.ts'
import type { RunStatus } from '../run-status.ts'
import type { BoardTask, TreeRow } from './board.ts'
import { FIRST_STATE, TABS, type Intent, type Liveness, type Prompt, type ScreenState } from './state.ts'

/** What a key may depend on besides the state: the selectable rows, and what the last frame has shown. */
export interface KeySituation extends Liveness {
  readonly rows: readonly TreeRow[]
  readonly task: BoardTask | null
  readonly status: RunStatus | null
  /** The number of visible rows of the list. */
  readonly listHeight: number
  /** The visible lines of the pane, and its whole range. */
  readonly pane: PaneShown
}

/** The visible lines of a pane, from first to before last, and its whole range. */
export interface PaneShown {
  readonly from: number
  readonly to: number
  readonly first: number
  readonly end: number
  /** Whether it grows at its end, which is visible unless a person scrolls. */
  readonly grows: boolean
}

/** The effect of a key. */
export interface Pressed {
  readonly state: ScreenState
  readonly intent: Intent | null
}

/** The state after a key, and the action that it requests. */
export function press(before: ScreenState, key: Key, situation: KeySituation): Pressed {
  const state = { ...before, notice: '' }
  if (state.prompt) return inPrompt(state, state.prompt, { key, situation })
  const moved = move(state, key, situation)
  if (moved) return { state: moved, intent: null }
  return command(state, key, situation)
}

const still = (state: ScreenState): Pressed => ({ state, intent: null })

function command(state: ScreenState, key: Key, situation: KeySituation): Pressed {
  const { task, isAlive, status } = situation
  switch (key.name) {
    case 'return':
      return still({ ...state, focus: 'pane' })
    case 'escape':
      return still(escaped(state))
    case 'tab':
      return still(turned(state, key.shift ? -1 : 1))
    case '/':
      return still({ ...state, focus: 'tasks', prompt: { kind: 'filter', text: state.filter } })
    case '?':
      return still({ ...state, prompt: { kind: 'keys' } })
    case 'n':
      return still({ ...state, focus: 'pane', tab: 'notes', at: null })
    case 'q':
      return isAlive ? still({ ...state, prompt: { kind: 'quit' } }) : { state, intent: { kind: 'leave' } }
    case 'f':
      return situation.isOwn ? { state, intent: { kind: 'leave' } } : still(state)
    case 'd':
    case 'l':
    case 'e': {
      const what = ({ d: 'diff', l: 'log', e: 'file' } as const)[key.name]
      if (!task) return still({ ...state, notice: 'choose a task first' })
      return { state, intent: { kind: 'open', what, task: task.id } }
    }
    case 'p':
      if (!isAlive || !status) return still(state)
      return { state, intent: { kind: 'steer', steering: { do: status.paused ? 'resume' : 'pause' } } }
    case 's':
      if (!isAlive) return still(state)
      if (!task) return still({ ...state, notice: 'choose a task first' })
      if (!canSkip(task, situation)) return still({ ...state, notice: `${task.id} is done` })
      return { state, intent: { kind: 'steer', steering: { do: 'skip', task: task.id } } }
    case 'i':
      if (!isAlive) return still(state)
      if (!task || !isAtWork(task, situation))
        return still({ ...state, notice: 'choose a task at work first' })
      return { state, intent: { kind: 'steer', steering: { do: 'take-over', task: task.id } } }
    case 'r':
      if (!task) return still({ ...state, notice: 'choose a task first' })
      if (!canRetry(task, situation)) return still({ ...state, notice: whyNoRetry(task, isAlive) })
      return { state, intent: { kind: 'steer', steering: { do: 'retry', task: task.id } } }
    case 'a':
      return still(withQuestion(state, situation))
    default:
      return still(state)
  }
}

/** What decides which keys do something. */
type Possible = Pick<KeySituation, 'isAlive' | 'status'>

/** Whether the task can be left out of the run. */
export function canSkip(task: BoardTask, { isAlive, status }: Possible): boolean {
  return isAlive && task.status !== 'DONE' && status?.completed.includes(task.id) !== true
}

/** Whether an agent is at work on the task, so that a person can take over. */
export function isAtWork({ id }: BoardTask, { isAlive, status }: Possible): boolean {
  return isAlive && status?.jobs.some((job) => job.id === id) === true
}

/** Whether the task can be tried again: if the run asks just that, or if no run is under way and the task is blocked. */
export function canRetry(task: BoardTask, { isAlive, status }: Possible): boolean {
  if (!isAlive) return task.status === 'BLOCKED'
  return status?.questions.some(({ id, options }) => id === task.id && options.includes('retry')) === true
}

function whyNoRetry({ id, status }: BoardTask, isAlive: boolean): string {
  if (status === 'BLOCKED' && isAlive) return `${id} can be tried again when this run is over`
  return `${id} is not blocked`
}

/** Goes back by one step: from the pane to the tasks, from a filter to all, from a selected task to the one at work. */
function escaped(state: ScreenState): ScreenState {
  if (state.focus === 'pane') return { ...state, focus: 'tasks', at: null }
  if (state.filter !== '') return { ...state, filter: '' }
  return { ...FIRST_STATE, selected: state.selected }
}

function turned(state: ScreenState, by: 1 | -1): ScreenState {
  if (state.selected === '') return { ...state, focus: 'pane', at: null }
  const at = (TABS.indexOf(state.tab) + by + TABS.length) % TABS.length
  return { ...state, tab: TABS[at] ?? 'activity', at: null, focus: 'pane' }
}

/** Opens the selected task's question, else the oldest one. */
function withQuestion(state: ScreenState, { status, isAlive }: KeySituation): ScreenState {
  const questions = isAlive ? (status?.questions ?? []) : []
  const question = questions.find(({ id }) => id === state.selected) ?? questions[0]
  if (!question) return { ...state, notice: 'nothing is asked' }
  const { id: task, text, options } = question
  return { ...state, selected: task, prompt: { kind: 'answer', task, question: text, options, text: '' } }
}

/** Moves the selection or the pane; null if the key moves nothing. */
function move(state: ScreenState, { name, ctrl }: Key, situation: KeySituation): ScreenState | null {
  const up = name === 'up' || name === 'k'
  const down = name === 'down' || name === 'j'
  const page =
    name === 'pageup' || (ctrl && name === 'b') ? -1 : name === 'pagedown' || (ctrl && name === 'f') ? 1 : 0
  if (name === 'left' || name === 'h') return { ...state, focus: 'tasks' }
  if (name === 'right') return { ...state, focus: 'pane' }
  if (!up && !down && page === 0 && name !== 'home' && name !== 'end') return ctrl ? state : null
  const { pane, listHeight } = situation
  if (state.focus === 'pane') {
    const by = up ? -1 : down ? 1 : page * Math.max(1, pane.to - pane.from - 1)
    return { ...state, at: scrolled(state.at, { by, name, pane }) }
  }
  const by = up ? -1 : down ? 1 : page * Math.max(1, listHeight - 1)
  return chosen(state, { by, name }, situation)
}

function scrolled(
  at: number | null,
  { by, name, pane }: { readonly by: number; readonly name: string; readonly pane: PaneShown },
): number | null {
  const { from, to, first, end, grows } = pane
  const shown = to - from
  if (!grows) {
    const last = Math.max(first, end - shown)
    if (name === 'home') return null
    return name === 'end' ? last : Math.max(first, Math.min(last, (at ?? first) + by))
  }
  if (name === 'end') return null
  const wanted = name === 'home' ? first + 1 : Math.max(first + Math.min(shown, end - first), to + by)
  return wanted >= end ? null : wanted
}

/** The selectable row that many rows away. */
function chosen(
  state: ScreenState,
  { by, name }: { readonly by: number; readonly name: string },
  { rows }: KeySituation,
): ScreenState {
  const ids = rows.flatMap((row) => (row.kind === 'task' ? [row.task.id] : row.kind === 'run' ? [''] : []))
  if (ids.length === 0) return state
  const now = Math.max(0, ids.indexOf(state.selected))
  const wanted = name === 'home' ? 0 : name === 'end' ? ids.length - 1 : now + by
  const selected = ids[Math.max(0, Math.min(ids.length - 1, wanted))] ?? ''
  return { ...state, selected, isFollowing: false, at: null }
}

interface PromptKey {
  readonly key: Key
  readonly situation: KeySituation
}

function inPrompt(state: ScreenState, prompt: Prompt, { key, situation }: PromptKey): Pressed {
  const closed = { ...state, prompt: null }
  switch (prompt.kind) {
    case 'keys':
      return still(closed)
    case 'quit':
      return quit(closed, key, situation)
    case 'filter': {
      if (key.name === 'escape') return still({ ...closed, filter: '' })
      if (key.name === 'return') return still(closed)
      const moved = key.text === '' ? move(state, key, situation) : null
      if (moved) return still(moved)
      const text = typed(prompt.text, key)
      return still({ ...state, filter: text, prompt: { ...prompt, text }, isFollowing: false })
    }
    case 'answer': {
      if (key.name === 'escape') return still(closed)
      if (key.name !== 'return')
        return still({ ...state, prompt: { ...prompt, text: typed(prompt.text, key) } })
      const text = meant(prompt.text.trim(), prompt.options)
      if (text === '') return still({ ...state, notice: 'an answer needs a text' })
      return { state: closed, intent: { kind: 'steer', steering: { do: 'answer', task: prompt.task, text } } }
    }
  }
}

/** Replaces the number of an option by the option. */
function meant(text: string, options: readonly string[]): string {
  return /^\d{1,2}$/.test(text) ? (options[Number(text) - 1] ?? text) : text
}

function quit(state: ScreenState, key: Key, { isOwn }: KeySituation): Pressed {
  switch (key.name) {
    case '1':
      return { state, intent: { kind: 'leave' } }
    case '2':
      return { state, intent: { kind: 'steer', steering: { do: 'stop', now: false } } }
    case '3':
      return { state, intent: { kind: 'steer', steering: { do: 'stop', now: true } } }
    case 'f':
      return isOwn ? { state, intent: { kind: 'leave' } } : still(state)
    case 'q':
      // A second press leaves the screen.
      return { state, intent: { kind: 'leave' } }
    case 'escape':
      return still(state)
    default:
      return still({ ...state, prompt: { kind: 'quit' } })
  }
}

const LONGEST = 2000

/** The typed text after a key. */
function typed(text: string, { name, ctrl, text: more }: Key): string {
  if (name === 'backspace') return [...text].slice(0, -1).join('')
  if (ctrl && name === 'u') return ''
  if (ctrl && name === 'w') return text.replace(/\S+\s*$/, '')
  return (text + more).slice(0, LONGEST)
}
