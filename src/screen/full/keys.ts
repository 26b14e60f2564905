import type { RunStatus } from '../run-status.ts'
import { strong, dim, accent, line, table, BLANK, type Line, type View } from '../block.ts'
import { lineWidth, trimEnd } from '../layout.ts'
import type { BoardTask, TreeRow } from './board.ts'

/** The views of a task, each in a tab of its own. */
export const TABS = ['activity', 'diff', 'log', 'attempts', 'notes'] as const
/** One of them. */
export type Tab = (typeof TABS)[number]

/** An open question or input; while there is one, it gets all keys. */
export type Prompt =
  | { readonly kind: 'filter'; readonly text: string }
  | {
      readonly kind: 'answer'
      readonly task: string
      readonly question: string
      readonly options: readonly string[]
      readonly text: string
    }
  | { readonly kind: 'quit' }
  | { readonly kind: 'keys' }

/** The state of the screen: everything besides the run and the tasks that a frame depends on. */
export interface ScreenState {
  /** The selected task's id; empty for the run as a whole. */
  readonly selected: string
  /** Whether the task at work is shown, because the person has selected none. */
  readonly isFollowing: boolean
  readonly filter: string
  readonly focus: 'tasks' | 'pane'
  readonly tab: Tab
  /**
   * The position of the pane: the line below the last visible one if it grows, else the first visible one; null for
   * the newest, or the top.
   */
  readonly at: number | null
  readonly prompt: Prompt | null
  /** The result of the last key. */
  readonly notice: string
}

/** The state at the start. */
export const FIRST_STATE: ScreenState = {
  selected: '',
  isFollowing: true,
  filter: '',
  focus: 'tasks',
  tab: 'activity',
  at: null,
  prompt: null,
  notice: '',
}

/** What the screen can request from the run's control. */
export type Steering =
  | { readonly do: 'pause' | 'resume' }
  | { readonly do: 'stop'; readonly now: boolean }
  | { readonly do: 'skip' | 'retry' | 'take-over'; readonly task: string }
  | { readonly do: 'answer'; readonly task: string; readonly text: string }

/** What a key requests beyond the screen itself; `open` is shown by another program, which has the terminal meanwhile. */
export type Intent =
  Steering | { readonly do: 'open'; readonly what: 'diff' | 'log' | 'file' } | { readonly do: 'leave' }

/** A key, or a pasted text, which has the name `paste`. */
export interface Key {
  /** `up`, `return`, `escape`, `tab`; for a printable key the character itself. */
  readonly name: string
  readonly ctrl: boolean
  readonly shift: boolean
  /** The typed text; empty for keys that type nothing. */
  readonly text: string
}

/** The shown run and the selected task, on which keys and frames depend. */
export interface Situation {
  /** Whether the run is running, so that it can be controlled. */
  readonly isAlive: boolean
  /** Whether it runs in this process: then leaving the screen returns to its lines. */
  readonly isOwn: boolean
  readonly status: RunStatus | null
  readonly rows: readonly TreeRow[]
  /** The selected task; null for the run. */
  readonly task: BoardTask | null
}

/** What the last frame has shown. */
export interface Shown {
  /** The number of visible rows of the list. */
  readonly listHeight: number
  readonly pane: PaneShown
}

/** The visible part of a pane. */
export interface PaneShown {
  /** Where it is, in lines; null for the newest line, or the top. */
  readonly at: number | null
  /** The same as a number. */
  readonly position: number
  readonly rows: number
}

type Press = (state: ScreenState, situation: Situation & Shown, key: Key) => ScreenState | Intent

interface RunKey {
  readonly key: string
  /** How it is shown, if not by its name. */
  readonly sign?: string
  /** What it does, in the line of keys; empty if it is named only in the help. */
  readonly word: string
  readonly about: string
  /** What it needs to do something, in words, and whether that is there. */
  readonly needs?: readonly [words: string, isThere: (situation: Situation) => boolean]
  readonly press?: Press
}

const RUN = ['a run under way', ({ isAlive }: Situation) => isAlive] as const
const TASK = ['a task', ({ task }: Situation) => task !== null] as const
const OWN = ['a run that was started here', ({ isOwn }: Situation) => isOwn] as const

const about =
  (what: 'skip' | 'retry' | 'take-over'): Press =>
  (state, { task }) =>
    task ? { do: what, task: task.id } : state
const open =
  (what: 'diff' | 'log' | 'file'): Press =>
  () => ({ do: 'open', what })

/** The keys of a run, in the order of their line: some of them work in its lines too, all in the full screen. */
const KEYS: readonly RunKey[] = [
  {
    key: 'a',
    word: 'answer',
    about: 'answers what is asked, in your own words too',
    needs: ['a question', ({ isAlive, status }) => isAlive && (status?.questions ?? []).length > 0],
    press: withQuestion,
  },
  { key: 'up', sign: '↑↓', word: 'task', about: 'the task above or below; in a pane a line' },
  {
    key: 'return',
    sign: '⏎',
    word: 'open',
    about: 'into the pane of the task; esc goes back',
    press: (state) => ({ ...state, focus: 'pane' }),
  },
  {
    key: 'tab',
    word: 'pane',
    about: 'activity, diff, log and gates, attempts, notes',
    press: (state, _, { shift }) => turned(state, shift ? -1 : 1),
  },
  {
    key: '/',
    word: 'filter',
    about: 'only tasks with these words in id, title, milestone or status',
    press: (state) => ({ ...state, focus: 'tasks', prompt: { kind: 'filter', text: state.filter } }),
  },
  {
    key: 'p',
    word: 'pause',
    about: 'no new attempt starts, until p again',
    needs: RUN,
    press: (_, { status }) => ({ do: status?.paused ? 'resume' : 'pause' }),
  },
  {
    key: 's',
    word: 'skip',
    about: 'skips the task in this run; its attempt is kept',
    needs: ['a task that is not done', canSkip],
    press: about('skip'),
  },
  {
    key: 'r',
    word: 'retry',
    about: 'has the task tried again',
    needs: ['a blocked task, after the run', canRetry],
    press: about('retry'),
  },
  {
    key: 'i',
    word: 'take over',
    about: 'lets you drive its agent yourself',
    needs: ['a task at work in a run that was started here', canTakeOver],
    press: about('take-over'),
  },
  {
    key: 'd',
    word: 'diff',
    about: "the task's code so far, in your pager",
    needs: TASK,
    press: open('diff'),
  },
  {
    key: 'l',
    word: 'log',
    about: 'all that its agent has said, in your pager',
    needs: TASK,
    press: open('log'),
  },
  {
    key: 'n',
    word: 'notes',
    about: 'what its file says: notes, comments, why it is blocked',
    needs: TASK,
    press: (state) => ({ ...state, focus: 'pane', tab: 'notes', at: null }),
  },
  { key: 'e', word: 'edit', about: 'opens its file in $EDITOR', needs: TASK, press: open('file') },
  {
    key: 'f',
    word: 'full',
    about: 'between the lines and the full screen; the run continues',
    needs: OWN,
    press: () => ({ do: 'leave' }),
  },
  {
    key: 'q',
    word: 'quit',
    about: 'quit: leave the run going, or stop it',
    press: (state, { isAlive }) => (isAlive ? { ...state, prompt: { kind: 'quit' } } : { do: 'leave' }),
  },
  {
    key: '?',
    word: 'keys',
    about: 'all keys',
    press: (state) => ({ ...state, prompt: { kind: 'keys' } }),
  },
  {
    key: 'pageup',
    sign: 'PgUp PgDn',
    word: '',
    about: 'a page; Home and End: the first and the last',
  },
  {
    key: 'escape',
    sign: 'esc',
    word: '',
    about: 'back: from the pane, from a filter, to the task at work',
    press: escaped,
  },
  {
    key: '',
    sign: 'Ctrl-C',
    word: '',
    about: 'ends a run that was started here; leaves the screen',
  },
  { key: '', sign: 'Ctrl-Z', word: '', about: 'puts it in the background; fg brings it back' },
]

/** A key of a run with its words; `p` has another one while the run is paused. */
export function keyWords(name: string, isPaused: boolean): Pick<RunKey, 'word' | 'about'> {
  const found = KEYS.find(({ key }) => key === name)!
  return name === 'p' && isPaused ? { ...found, word: 'go on' } : found
}

/** The state after a key, and what it requests. */
export function press(
  before: ScreenState,
  key: Key,
  situation: Situation & Shown,
): { readonly state: ScreenState; readonly intent: Intent | null } {
  const state = { ...before, notice: '' }
  const found = state.prompt
    ? inPrompt(state, state.prompt, { key, situation })
    : (move(state, key, situation) ?? command(state, key, situation))
  return 'do' in found ? { state: { ...state, prompt: null }, intent: found } : { state: found, intent: null }
}

function command(state: ScreenState, key: Key, situation: Situation & Shown): ScreenState | Intent {
  const found = KEYS.find((one) => one.key === key.name)
  if (!found?.press) return state
  const { needs, word } = found
  if (needs && !needs[1](situation)) return { ...state, notice: `${word} needs ${needs[0]}` }
  return found.press(state, situation, key)
}

/** Whether the task can be left out of the run. */
function canSkip({ task, isAlive, status }: Situation): boolean {
  return isAlive && task !== null && task.status !== 'DONE' && status?.completed.includes(task.id) !== true
}

/** Whether an agent is at work on the task, in this process. */
function canTakeOver({ task, isAlive, isOwn, status }: Situation): boolean {
  return isOwn && isAlive && status?.jobs.some(({ id }) => id === task?.id) === true
}

/** Whether the task can be tried again: if the run asks just that, or if no run is under way and the task is blocked. */
function canRetry({ task, isAlive, status }: Situation): boolean {
  if (!isAlive) return task?.status === 'BLOCKED'
  return status?.questions.some(({ id, options }) => id === task?.id && options.includes('retry')) === true
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
function withQuestion(state: ScreenState, { status }: Situation): ScreenState {
  const { questions = [] } = status ?? {}
  const question = questions.find(({ id }) => id === state.selected) ?? questions[0]
  if (!question) return state
  const { id: task, text, options } = question
  return { ...state, selected: task, prompt: { kind: 'answer', task, question: text, options, text: '' } }
}

/** Moves the selection or the pane; null if the key moves nothing. */
function move(state: ScreenState, { name, ctrl }: Key, situation: Situation & Shown): ScreenState | null {
  if (name === 'left' || name === 'h') return { ...state, focus: 'tasks' }
  if (name === 'right') return { ...state, focus: 'pane' }
  const { pane, listHeight } = situation
  const isPane = state.focus === 'pane'
  const by = stepOf(name, ctrl, Math.max(1, (isPane ? pane.rows : listHeight) - 1))
  if (by === 0) return ctrl ? state : null
  return isPane ? { ...state, at: pane.position + by } : chosen(state, by, situation)
}

/** How many rows a key moves by: to the first and the last more than there are; none if it moves nothing. */
function stepOf(name: string, ctrl: boolean, page: number): number {
  if (name === 'up' || name === 'k') return -1
  if (name === 'down' || name === 'j') return 1
  if (name === 'pageup' || (ctrl && name === 'b')) return -page
  if (name === 'pagedown' || (ctrl && name === 'f')) return page
  return name === 'home' ? -Infinity : name === 'end' ? Infinity : 0
}

/** The selectable row that many rows away. */
function chosen(state: ScreenState, by: number, { rows }: Situation): ScreenState {
  const ids = rows.flatMap((row) => (row.kind === 'task' ? [row.task.id] : row.kind === 'run' ? [''] : []))
  const wanted = Math.max(0, ids.indexOf(state.selected)) + by
  const selected = ids[Math.max(0, Math.min(ids.length - 1, wanted))]
  return selected === undefined ? state : { ...state, selected, isFollowing: false, at: null }
}

function inPrompt(
  state: ScreenState,
  prompt: Prompt,
  { key, situation }: { key: Key; situation: Situation & Shown },
): ScreenState | Intent {
  const closed = { ...state, prompt: null }
  switch (prompt.kind) {
    case 'keys':
      return closed
    case 'quit':
      if (key.name === 'escape') return closed
      // A second q leaves the screen.
      if (key.name === '1' || key.name === 'q') return { do: 'leave' }
      if (key.name === '2' || key.name === '3') return { do: 'stop', now: key.name === '3' }
      return state
    case 'filter': {
      if (key.name === 'escape') return { ...closed, filter: '' }
      if (key.name === 'return') return closed
      const moved = key.text === '' ? move(state, key, situation) : null
      if (moved) return moved
      const text = typed(prompt.text, key)
      return { ...state, filter: text, prompt: { ...prompt, text }, isFollowing: false }
    }
    case 'answer': {
      if (key.name === 'escape') return closed
      if (key.name !== 'return') return { ...state, prompt: { ...prompt, text: typed(prompt.text, key) } }
      const text = meant(prompt.text.trim(), prompt.options)
      if (text === '') return { ...state, notice: 'an answer needs a text' }
      return { do: 'answer', task: prompt.task, text }
    }
  }
}

/** Replaces the number of an option by the option. */
function meant(text: string, options: readonly string[]): string {
  return /^\d{1,2}$/.test(text) ? (options[Number(text) - 1] ?? text) : text
}

const LONGEST = 2000

/** The typed text after a key. */
export function typed(text: string, { name, ctrl, text: more }: Key): string {
  if (name === 'backspace') return [...text].slice(0, -1).join('')
  if (ctrl && name === 'u') return ''
  if (ctrl && name === 'w') return text.replace(/\S+\s*$/, '')
  return (text + more).slice(0, LONGEST)
}

/** The keys that do something now. */
function keysNow(situation: Situation): readonly RunKey[] {
  const isPaused = situation.status?.paused === true
  return KEYS.filter(({ needs }) => !needs || needs[1](situation)).map((one) =>
    one.word === '' ? one : { ...one, ...keyWords(one.key, isPaused) },
  )
}

/** The line of keys: as many as there is room for, of which the last two are dropped last. */
export function keysLine(situation: Situation, prompt: Prompt | null, columns: number): Line {
  const shown = prompt
    ? [...PROMPT_KEYS[prompt.kind]]
    : keysNow(situation).flatMap(({ key, sign = key, word }) => (word === '' ? [] : [[sign, word] as const]))
  while (lineWidth(lineOf(shown)) > columns && shown.length > 1)
    shown.splice(Math.max(0, shown.length - 3), 1)
  return lineOf(shown)
}

type ShownKey = readonly [sign: string, word: string]

function lineOf(keys: readonly ShownKey[]): Line {
  return trimEnd(keys.flatMap(([sign, word]) => [' ', accent(sign), dim(` ${word}`), ' ']))
}

const PROMPT_KEYS: Readonly<Record<Prompt['kind'], readonly ShownKey[]>> = {
  filter: [
    ['⏎', 'keep it'],
    ['esc', 'all tasks'],
  ],
  answer: [
    ['⏎', 'send'],
    ['esc', 'later'],
  ],
  keys: [['any key', 'goes back']],
  quit: [
    ['1', 'leave the screen; the run continues'],
    ['2', 'stop after this attempt'],
    ['3', 'stop now'],
    ['esc', 'stay'],
  ],
}

/** All keys that do something now, and what they do. */
export function keysHelp(situation: Situation): View {
  const rows = keysNow(situation).map(({ key, sign = key, about: text }) => [accent(sign), text])
  return [line(strong('Keys')), BLANK, ...table(rows, { wrap: 1 })]
}
