import { messageOf } from '../../base/errors.ts'
import { paragraph, type View } from '../block.ts'
import type { Canvas } from '../layout.ts'
import { treeOf, type BoardTask, type TreeRow } from './board.ts'
import {
  FIRST_STATE,
  press,
  type Intent,
  type Key,
  type ScreenState,
  type Situation,
  type Steering,
  type Tab,
} from './keys.ts'
import type { RunModel } from './model.ts'
import { ENTER, LEAVE, Painter } from './painter.ts'
import { view, type Viewed } from './view.ts'

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

/** Leaves the terminal to another program during the work. */
export type Lend = (work: () => Promise<boolean>) => Promise<boolean>

/** What a screen uses; the caller passes all of it. */
export interface ScreenPorts {
  readonly terminal: Terminal
  readonly look: Pick<Canvas, 'colour' | 'ascii'>
  readonly now: () => Date
  readonly model: RunModel
  readonly board: () => readonly BoardTask[]
  readonly project: string
  readonly liveness: () => Pick<Situation, 'isAlive' | 'isOwn'>
  /** Sends a command to the run; returns its answer. */
  readonly steer: (steering: Steering) => Promise<string>
  /** The content of a tab, except the activity, for a task. */
  readonly material: (task: BoardTask, tab: Exclude<Tab, 'activity'>) => Promise<View>
  /** Shows something in another program, to which the terminal is lent; returns a message about it. */
  readonly open: (what: 'diff' | 'log' | 'file', task: BoardTask, lend: Lend) => Promise<string>
  /** Called once a second. */
  readonly tick: () => void
}

/** The interval of frames under a flood of events. */
const FLOOD_MS = 50
/** A key is shown at once, unless there were already this many frames since the last tick. */
const MOST_FRAMES = 60
/** The interval, in seconds, at which the visible diff of a task at work is renewed. */
const DIFF_SECONDS = 3

/** The revision of content that is to be made anew. */
const NEVER = -1

/** The content of a tab for a task, made at one state of the run. */
interface Material {
  readonly key: string
  revision: number
  /** Null while it is made for the first time. */
  blocks: View | null
  isLoading: boolean
}

/** The full screen: handles keys and events, and paints what has changed, until a person leaves it. */
export class Screen {
  readonly #ports: ScreenPorts
  readonly #painter: Painter
  #state: ScreenState = FIRST_STATE
  #viewed: Viewed | null = null
  #top = 0
  #material: Material | null = null
  #timer: NodeJS.Timeout | null = null
  #ticking: NodeJS.Timeout | null = null
  #paintedAt = -Infinity
  #frames = 0
  #questions = 0
  #seconds = 0
  #isLent = false
  #end: (() => void) | null = null

  constructor(ports: ScreenPorts) {
    this.#ports = ports
    this.#painter = new Painter(ports.look)
  }

  /** Shows the screen until a person leaves it, or it is closed. */
  show(): Promise<void> {
    const { terminal } = this.#ports
    const listener = { key: (key: Key) => this.#press(key), spoilt: () => this.#repaint() }
    return new Promise((resolve) => {
      this.#end = resolve
      this.#painter.forget()
      terminal.open(listener, { enter: ENTER, leave: LEAVE })
      this.#ticking = setInterval(() => this.#tick(), 1000)
      this.#paint()
    })
  }

  get isOpen(): boolean {
    return this.#end !== null
  }

  /** Gives the terminal back. */
  close(): void {
    const end = this.#end
    if (!end) return
    this.#end = null
    if (this.#timer) clearTimeout(this.#timer)
    if (this.#ticking) clearInterval(this.#ticking)
    this.#timer = null
    this.#ports.terminal.close()
    end()
  }

  /** Stops painting until `resume`, because another program may write to the terminal. */
  pause(): void {
    this.#isLent = true
  }

  resume(): void {
    this.#isLent = false
    if (this.isOpen) this.#repaint()
  }

  /** Requests a frame, because something visible may have changed. */
  changed(): void {
    if (!this.isOpen || this.#timer || this.#isLent) return
    const wait = Math.max(0, this.#paintedAt + FLOOD_MS - performance.now())
    this.#timer = setTimeout(() => this.#paint(), wait)
  }

  #repaint(): void {
    this.#painter.forget()
    this.#soon()
  }

  /** Paints at once, or when the limit of frames allows it. */
  #soon(): void {
    if (this.#frames < MOST_FRAMES) this.#paint()
    else this.changed()
  }

  #tick(): void {
    this.#seconds++
    this.#frames = 0
    this.#ports.tick()
    const isAtWork = this.#ports.model.status?.jobs.some(({ id }) => id === this.#state.selected)
    if (this.#state.tab === 'diff' && isAtWork && this.#seconds % DIFF_SECONDS === 0 && this.#material)
      this.#material.revision = NEVER
    // In the same task of the event loop.
    this.#soon()
  }

  #paint(): void {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    if (!this.isOpen || this.#isLent) return
    this.#settle()
    this.#follow()
    const { terminal, model, project, now } = this.#ports
    const situation = this.#situation
    this.#viewed = view({
      ...situation,
      size: terminal.size(),
      state: this.#state,
      model,
      top: this.#topFor(situation.rows),
      material: this.#materialOf(situation.task),
      project,
      now: now(),
    })
    this.#state = { ...this.#state, at: this.#viewed.pane.at }
    const text = this.#painter.paint(this.#viewed.frame) + this.#bell()
    if (text === '') return
    this.#paintedAt = performance.now()
    this.#frames++
    terminal.write(text)
  }

  get #situation(): Situation {
    const { model, liveness } = this.#ports
    return { ...liveness(), status: model.status, rows: this.#tree(), task: this.#task }
  }

  /** The bell, if there is a new question. */
  #bell(): string {
    const open = this.#ports.liveness().isAlive ? (this.#ports.model.status?.questions.length ?? 0) : 0
    const isNew = open > this.#questions
    this.#questions = open
    return isNew ? '\u0007' : ''
  }

  /** Closes a prompt on the screen that has nothing to ask any more. */
  #settle(): void {
    const { prompt } = this.#state
    const { isAlive } = this.#ports.liveness()
    const { questions = [] } = this.#ports.model.status ?? {}
    const isAsked = prompt?.kind === 'answer' && isAlive && questions.some(({ id }) => id === prompt.task)
    if (prompt?.kind === 'quit' && !isAlive) this.#state = { ...this.#state, prompt: null }
    if (prompt?.kind === 'answer' && !isAsked)
      this.#state = { ...this.#state, prompt: null, notice: `${prompt.task} does not ask any more` }
  }

  /** Selects the task at work, unless the person has selected another. */
  #follow(): void {
    if (!this.#state.isFollowing) return
    const { jobs = [] } = this.#ports.model.status ?? {}
    const { selected } = this.#state
    if (jobs.some(({ id }) => id === selected)) return
    const next = jobs[0]?.id ?? (selected === '' || this.#ports.model.status?.ended ? '' : selected)
    if (next !== selected) this.#state = { ...this.#state, selected: next, at: null }
  }

  #tree(): readonly TreeRow[] {
    const { model, board } = this.#ports
    const completed = new Set(model.status?.completed)
    return treeOf(board(), this.#state.filter, ({ id, status }) => status === 'DONE' || completed.has(id))
  }

  get #task(): BoardTask | null {
    return this.#ports.board().find(({ id }) => id === this.#state.selected) ?? null
  }

  /** The first visible row of the list, so that the selected one is visible, and its milestone if the row is its first. */
  #topFor(rows: readonly TreeRow[]): number {
    const height = Math.max(1, this.#viewed?.listHeight ?? this.#ports.terminal.size().rows - 4)
    const { selected } = this.#state
    const found = rows.findIndex(
      (row) => (row.kind === 'task' ? row.task.id : row.kind === 'run' ? '' : null) === selected,
    )
    const index = Math.max(0, found)
    const above = rows[index - 1]?.kind === 'milestone' ? index - 1 : index
    this.#top = Math.max(0, Math.min(this.#top, above, Math.max(0, rows.length - height)))
    if (index >= this.#top + height) this.#top = index - height + 1
    return this.#top
  }

  /** The content of the tab: the old one until that of the present state of the run is made. */
  #materialOf(task: BoardTask | null): View | null {
    const { tab } = this.#state
    if (!task || tab === 'activity') return null
    const key = `${task.id} ${tab}`
    if (this.#material?.key !== key) this.#material = { key, revision: NEVER, blocks: null, isLoading: false }
    const material = this.#material
    const { revision } = this.#ports.model
    if (material.revision === revision || material.isLoading) return material.blocks
    Object.assign(material, { revision, isLoading: true })
    const show = (blocks: View): void => {
      Object.assign(material, { blocks, isLoading: false })
      this.changed()
    }
    this.#ports.material(task, tab).then(show, (error: unknown) => show([paragraph([], messageOf(error))]))
    return material.blocks
  }

  #press(key: Key): void {
    if (!this.#viewed || !this.isOpen) return
    const { state, intent } = press(this.#state, key, { ...this.#situation, ...this.#viewed })
    this.#state = state
    if (intent) this.#act(intent)
    if (this.isOpen) this.#soon()
  }

  #act(intent: Intent): void {
    const task = this.#task
    if (intent.do === 'leave') this.close()
    else if (intent.do !== 'open') this.#say(this.#ports.steer(intent))
    else if (task) this.#say(this.#ports.open(intent.what, task, (work) => this.#lent(work)))
  }

  async #lent(work: () => Promise<boolean>): Promise<boolean> {
    this.#isLent = true
    try {
      return await this.#ports.terminal.lend(work)
    } finally {
      this.#isLent = false
      this.#painter.forget()
    }
  }

  #say(answer: Promise<string>): void {
    const show = (notice: string): void => {
      this.#state = { ...this.#state, notice }
      this.changed()
    }
    answer.then(show, (error: unknown) => show(messageOf(error)))
  }
}
