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

/** What a key requests beyond the screen itself. */
export type Intent =
  | { readonly kind: 'steer'; readonly steering: Steering }
  /** Shown by another program, which has the terminal meanwhile. */
  | { readonly kind: 'open'; readonly what: 'diff' | 'log' | 'file'; readonly task: string }
  | { readonly kind: 'leave' }

/** The life of the shown run. */
export interface Liveness {
  /** Whether it is running, so that it can be controlled. */
  readonly isAlive: boolean
  /** Whether it runs in this process: then leaving the screen returns to its lines. */
  readonly isOwn: boolean
}

/** A key, or a pasted text, which has the name `paste`. */
export interface Key {
  /** `up`, `return`, `escape`, `tab`; for a printable key the character itself. */
  readonly name: string
  readonly ctrl: boolean
  readonly shift: boolean
  /** The typed text; empty for keys that type nothing. */
  readonly text: string
}

/** What a screen learns from its terminal. */
export interface TerminalListener {
  readonly key: (key: Key) => void
  /** Called when its size has changed, or another program has used it: its content is unknown. */
  readonly spoilt: () => void
}

/** A terminal for one screen alone, until it is closed. */
export interface Terminal {
  readonly size: () => { readonly columns: number; readonly rows: number }
  readonly write: (text: string) => void
  /** Starts to read keys; writes `enter` and `leave` each time that the screen is entered and left, for any cause. */
  readonly open: (
    listener: TerminalListener,
    texts: { readonly enter: string; readonly leave: string },
  ) => void
  readonly close: () => void
  /** Directs keys here again, after another listener got them. */
  readonly focus: () => void
  /** Lends the terminal to another program during the work. */
  readonly lend: <T>(work: () => Promise<T>) => Promise<T>
}
