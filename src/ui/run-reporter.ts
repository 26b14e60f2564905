import { remainingTime, type Pace } from '../events/remaining.ts'
import type { RunEvent } from '../events/event.ts'
import { statusAfter, type RunStatus } from '../events/status.ts'
import { line, type Block } from './block.ts'
import { layOutNow, SPREAD_COLUMNS, type Canvas } from './layout.ts'
import { LiveRegion } from './live-region.ts'
import { LIVE } from './run-blocks.ts'
import { footLine, rule } from './run-foot.ts'
import { RunStory, type Story, type StoryDetail } from './run-story.ts'
import { TogetherStory } from './run-together.ts'
import { withoutJoiners, type Measure } from './width.ts'

/** Where a run is reported. */
export interface ReportTarget {
  readonly write: (text: string) => void
  /** Asked anew for each frame: a terminal may change its size meanwhile. */
  readonly canvas: () => Canvas
  readonly measure: Measure
  readonly now: () => Date
  /** Show each step of the agent as a line, in a terminal too. */
  readonly verbose: boolean
  /** The terminal that live lines stand in; null where there are none: in a pipe, and where each event is to be a line. */
  readonly live: LiveTarget | null
}

/** A terminal in which what stands below the lines changes. */
export interface LiveTarget {
  readonly rows: () => number
  readonly reflows: boolean
  /** Calls back a little later; what it returns takes that back. */
  readonly later: (callback: () => void, milliseconds: number) => () => void
}

/** Sixty frames a second are all that an eye sees. */
const FRAME_MS = 1000 / 60
/** More live lines than these nobody follows. */
const MOST_LIVE = 12
/** Below so many rows each one counts: then the rule goes first. */
const FEW_ROWS = 10

/** Reports a run to a person: lines that stay, and in a terminal below them what goes on, and how the run stands. */
export class RunReporter {
  readonly #target: ReportTarget
  readonly #detail: StoryDetail
  readonly #region: LiveRegion | null
  #story: Story
  #status: RunStatus | null = null
  #pace: Pace = { durations: [], most: 0 }
  #keys: readonly string[] = []
  /** What stands in place of the foot. */
  #overlay: readonly Block[] | null = null
  /** What is to stay, and not written yet. */
  #kept: Block[] = []
  #holds = 0
  /** Whether a run was asked for, and has not begun. */
  #begins = false
  #drawnAt = 0
  #cancel: (() => void) | null = null

  constructor(target: ReportTarget) {
    const { live, measure, verbose } = target
    this.#target = target
    this.#detail = { steps: verbose || live === null }
    this.#region = live && new LiveRegion({ measure, reflows: live.reflows })
    this.#story = new RunStory(this.#detail)
  }

  /** Shows that something goes on, before there is anything to say. */
  begin(): void {
    this.#begins = true
    this.tick()
  }

  /** How the run stands; null before it has begun. */
  get status(): RunStatus | null {
    return this.#status
  }

  event(event: RunEvent): void {
    if (event.type === 'run-started' && event.jobs > 1) this.#story = new TogetherStory(this.#detail)
    if (event.type === 'task-completed')
      this.#pace = { ...this.#pace, durations: [...this.#pace.durations, event.duration] }
    this.#status = statusAfter(this.#status, event)
    this.print(this.#story.show(event))
  }

  /** Lines that stay, between those of the run. */
  print(blocks: readonly Block[]): void {
    this.#kept.push(...blocks)
    this.#drawSoon()
  }

  /** How long tasks take here, once that is known: in the order in which they were done. */
  pace({ durations, most }: Pace): void {
    this.#pace = { durations: [...durations, ...this.#pace.durations], most }
    this.#drawSoon()
  }

  /** What the foot says of keys: the last one stays the longest. */
  keys(keys: readonly string[]): void {
    this.#keys = keys
    this.#drawSoon()
  }

  /** Shows something in place of the foot, as what a key asks; null shows the foot again. */
  overlay(blocks: readonly Block[] | null): void {
    this.#overlay = blocks
    this.#drawSoon()
  }

  /** Draws what changes with the time, or with the size of the terminal. */
  tick(): void {
    if (this.#region && this.#holds === 0) this.#draw()
  }

  /** Takes the live lines away and writes nothing, until what it returns is called: somebody else has the terminal. */
  hold(): () => void {
    if (this.#holds === 0) {
      this.#write(this.#region?.frame(this.#keptText(), [], this.#columns()) ?? '')
    }
    this.#holds++
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      this.#holds--
      this.#drawSoon()
    }
  }

  /** Draws all of it anew, below whatever somebody else has written. */
  redraw(): void {
    this.#region?.forget()
    this.tick()
  }

  /** Draws all of it anew where it stands. */
  refresh(): void {
    this.#region?.refresh()
    this.tick()
  }

  /** The end: what there was to say is written, and nothing is left below it. */
  end(): void {
    this.#cancel?.()
    this.#cancel = null
    this.#holds = 0
    const kept = this.#keptText()
    this.#write(this.#region ? this.#region.frame(kept, [], this.#columns()) : kept)
  }

  /** At once, unless a frame was drawn just now: then with whatever comes until the next. */
  #drawSoon(): void {
    if (this.#holds > 0 || this.#cancel) return
    const { live, now } = this.#target
    if (!live) return this.#write(this.#keptText())
    const since = now().getTime() - this.#drawnAt
    const wait = since < 0 ? 0 : FRAME_MS - since
    if (wait <= 0) return this.#draw()
    this.#cancel = live.later(() => {
      this.#cancel = null
      if (this.#holds === 0) this.#draw()
    }, wait)
  }

  #draw(): void {
    this.#cancel?.()
    this.#cancel = null
    this.#drawnAt = this.#target.now().getTime()
    const kept = this.#keptText()
    this.#write(this.#region?.frame(kept, this.#liveRows(), this.#columns()) ?? kept)
  }

  #keptText(): string {
    const { canvas, measure } = this.#target
    const blocks = this.#kept
    this.#kept = []
    return blocks.length === 0 ? '' : layOutNow(blocks, canvas(), measure)
  }

  #columns(): number {
    return this.#target.canvas().columns ?? 80
  }

  #write(text: string): void {
    if (text !== '') this.#target.write(text)
  }

  /** Never wider than the terminal, whose last column stays free, nor higher than half of it. */
  #liveRows(): readonly string[] {
    const { live, canvas, now } = this.#target
    if (!live) return []
    const measure: Measure = (text) => this.#target.measure(withoutJoiners(text))
    const look = canvas()
    const columns = Math.max(1, (look.columns ?? 80) - 1)
    const most = Math.max(1, Math.min(MOST_LIVE, Math.floor(live.rows() / 2)))
    const foot = this.#foot(Math.min(columns, SPREAD_COLUMNS), now(), live.rows())
    const room = { columns, rows: Math.max(1, most - foot.length), measure }
    const begins = this.#begins && !this.#status ? [line('  ', LIVE, ' begins')] : []
    const blocks = this.#status?.ended ? [] : [...begins, ...this.#story.live(now(), room), ...foot]
    const text = withoutJoiners(layOutNow(blocks, { ...look, columns }, measure))
    return text === ''
      ? []
      : text
          .slice(0, -1)
          .split('\n')
          .slice(1 - live.rows())
  }

  #foot(columns: number, now: Date, rows: number): readonly Block[] {
    const status = this.#status
    if (!status || status.ended) return []
    const remaining = remainingTime(status, this.#pace, now)
    const { measure } = this.#target
    const facts = { now, remaining, keys: this.#keys }
    const standing = footLine(status, facts, { columns, measure })
    return [...(rows >= FEW_ROWS ? [rule(columns)] : []), ...(this.#overlay ?? [standing])]
  }
}
