/** What can be seen of a task, each in a tab of its own. */
export const TABS = ['activity', 'diff', 'log', 'attempts', 'notes'] as const
/** One of them. */
export type Tab = (typeof TABS)[number]

/** What a person is asked or types; while one is open all keys are its. */
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

/** What is chosen on the screen: all that a frame depends on beside the run and the tasks. */
export interface ScreenState {
  /** The id of the task; empty for the run as a whole. */
  readonly selected: string
  /** Nobody has chosen a task: the one at work is shown. */
  readonly isFollowing: boolean
  readonly filter: string
  readonly focus: 'tasks' | 'pane'
  readonly tab: Tab
  /** Where the pane stands: of what grows the line below the last one shown, else the first one; null at the newest, or at the top. */
  readonly at: number | null
  readonly prompt: Prompt | null
  /** What the last key has come to. */
  readonly notice: string
}

/** How it begins. */
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

/** What can be done to a run from its screen, as its control takes it. */
export type Steering =
  | { readonly do: 'pause' | 'resume' }
  | { readonly do: 'stop'; readonly now: boolean }
  | { readonly do: 'skip' | 'retry' | 'take-over'; readonly task: string }
  | { readonly do: 'answer'; readonly task: string; readonly text: string }

/** What a key asks for beyond the screen itself. */
export type Intent =
  | { readonly kind: 'steer'; readonly steering: Steering }
  /** Shown by another program, which has the terminal meanwhile. */
  | { readonly kind: 'open'; readonly what: 'diff' | 'log' | 'file'; readonly task: string }
  | { readonly kind: 'leave' }

/** What goes on with the run that is shown. */
export interface Liveness {
  /** It goes on, so that it can be steered. */
  readonly isAlive: boolean
  /** It goes on in this very process: who leaves the screen goes back to its lines. */
  readonly isOwn: boolean
}
