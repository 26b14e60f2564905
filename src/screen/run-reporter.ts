import { stripVTControlCharacters } from 'node:util'
import { remainingTime, type Pace, footLine } from './run-state.ts'
import { LIVE } from './task-lines.ts'
import type { RunEvent } from '../engine/events/event.ts'
import type { RunStatus } from './run-status.ts'
import { dim, line, type Block, type View } from './block.ts'
import { layOut, type Canvas, SPREAD_COLUMNS } from './layout.ts'
import { textWidth } from './printable.ts'
import { RunStory } from './run-story.ts'

/** The output of a run's report. */
interface ReportTarget {
  readonly write: (text: string) => void
  /** Called for each frame, because a terminal may change its size. */
  readonly canvas: () => Canvas
  readonly now: () => Date
  /** Whether each step of the agent is a line, in a terminal too. */
  readonly verbose: boolean
  /** The terminal of the live lines; null without them: in a pipe, or if each event is a line. */
  readonly live: {
    readonly rows: () => number
    readonly reflows: boolean
    /** Calls back a little later; the returned function cancels that. */
    readonly later: (callback: () => void, milliseconds: number) => () => void
  } | null
}

/** More than sixty frames a second are not visible. */
const FRAME_MS = 1000 / 60
/** Nobody follows more live lines than these. */
const MOST_LIVE = 12
/** With fewer rows than this, the rule is dropped first. */
const FEW_ROWS = 10

/** Reports a run to a person: lines that stay, and in a terminal live lines with a foot below them. */
export class RunReporter {
  readonly #target: ReportTarget
  readonly #region: LiveRegion | null
  readonly #story: RunStory
  #pace: Pace = { durations: [], most: 0 }
  #keys: readonly string[] = []
  /** What is shown in place of the foot. */
  #overlay: View | null = null
  /** A question to the person, with what they have typed, in place of all that. */
  #question: View | null = null
  /** Lines that stay, not written yet. */
  #kept: Block[] = []
  #holds = 0
  /** Whether a run was started, and has no events yet. */
  #begins = false
  #drawnAt = 0
  #cancel: (() => void) | null = null

  constructor(target: ReportTarget) {
    const { live, verbose } = target
    this.#target = target
    this.#region = live && new LiveRegion(live.reflows)
    this.#story = new RunStory({ steps: verbose || live === null })
  }

  /** Shows activity before the first event. */
  begin(): void {
    this.#begins = true
    this.tick()
  }

  /** The state of the run; null before it has begun. */
  get status(): RunStatus | null {
    return this.#story.status
  }

  event(event: RunEvent): void {
    if (event.type === 'task-completed')
      this.#pace = { ...this.#pace, durations: [...this.#pace.durations, event.duration] }
    this.print(this.#story.show(event))
  }

  /** Prints lines that stay, between those of the run. */
  print(blocks: View): void {
    this.#kept.push(...blocks)
    this.#drawSoon()
  }

  /** Sets how long tasks take here, once known, in the order in which they were done. */
  pace({ durations, most }: Pace): void {
    this.#pace = { durations: [...durations, ...this.#pace.durations], most }
    this.#drawSoon()
  }

  /** Sets the keys in the foot: the last one is dropped last. */
  keys(keys: readonly string[]): void {
    this.#keys = keys
    this.#drawSoon()
  }

  /** Shows something in place of the foot, such as a key's question; null shows the foot again. */
  overlay(blocks: View | null): void {
    this.#overlay = blocks
    this.#drawSoon()
  }

  /** Asks the person something below the live lines, which go on; null when that is over. */
  question(blocks: View | null): void {
    this.#question = blocks
    this.#drawSoon()
  }

  /** Draws what changes with the time, or with the size of the terminal. */
  tick(): void {
    if (this.#region && this.#holds === 0) this.#draw()
  }

  /** Removes the live lines and writes nothing until the returned function is called: another program has the terminal. */
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

  /** Draws everything again, below what another program has written. */
  redraw(): void {
    this.#region?.forget()
    this.tick()
  }

  /** Draws everything again in the same place. */
  refresh(): void {
    this.#region?.refresh()
    this.tick()
  }

  /** Ends the report: writes what is left, and leaves nothing below it. */
  end(): void {
    this.#cancel?.()
    this.#cancel = null
    this.#holds = 0
    const kept = this.#keptText()
    this.#write(this.#region ? this.#region.frame(kept, [], this.#columns()) : kept)
  }

  /** Draws at once; just after a frame, draws all changes with the next one. */
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
    const blocks = this.#kept
    this.#kept = []
    return blocks.length === 0 ? '' : layOut(blocks, this.#target.canvas())
  }

  #columns(): number {
    return this.#target.canvas().columns ?? 80
  }

  #write(text: string): void {
    if (text !== '') this.#target.write(text)
  }

  /** Narrower than the terminal, whose last column stays free, and at most half as high. */
  #liveRows(): readonly string[] {
    const { live, canvas, now } = this.#target
    if (!live) return []
    const look = canvas()
    const columns = Math.max(1, (look.columns ?? 80) - 1)
    const most = Math.max(1, Math.min(MOST_LIVE, Math.floor(live.rows() / 2)))
    const foot = this.#foot(Math.min(columns, SPREAD_COLUMNS), now(), live.rows())
    const room = { columns, rows: Math.max(1, most - foot.length) }
    const begins = this.#begins && !this.status ? [line('  ', LIVE, ' begins')] : []
    const blocks = this.status?.ended ? [] : [...begins, ...this.#story.live(now(), room), ...foot]
    const text = layOut(blocks, { ...look, columns })
    return text === ''
      ? []
      : text
          .slice(0, -1)
          .split('\n')
          .slice(1 - live.rows())
  }

  #foot(columns: number, now: Date, rows: number): View {
    const { status } = this
    if (!status || status.ended) return this.#question ?? []
    const remaining = remainingTime(status, this.#pace, now)
    const standing = footLine(status, { now, remaining, keys: this.#keys, columns })
    return [
      ...(rows >= FEW_ROWS ? [line(dim('─'.repeat(columns)))] : []),
      ...(this.#question ?? this.#overlay ?? [standing]),
    ]
  }
}

/** Makes the terminal show a frame at once; terminals that do not know it ignore it. */
const BEGIN = '\u001b[?2026h'
const END = '\u001b[?2026l'
/** Erases what is below the cursor, never what has scrolled away. */
const ERASE_BELOW = '\u001b[J'
const ERASE_TO_END = '\u001b[K'

/**
 * The last rows of a terminal, which change while all above stays. The cursor rests at the start of the last row, the only
 * place that is the same in every terminal after a resize.
 */
class LiveRegion {
  /** Whether the terminal wraps lines again when its width changes; others cut them. */
  readonly #reflows: boolean
  #rows: readonly string[] = []
  #columns = 0

  constructor(reflows: boolean) {
    this.#reflows = reflows
  }

  /** What to write so that `kept` is above the rows, which are narrower than the terminal; empty if nothing changes. */
  frame(kept: string, rows: readonly string[], columns: number): string {
    const isSame = kept === '' && columns === this.#columns && rows.length === this.#rows.length
    const text = isSame ? this.#changed(rows) : this.#erased(columns) + kept + drawn(rows)
    this.#rows = rows
    this.#columns = columns
    return text === '' ? '' : BEGIN + text + END
  }

  /** Forgets where the rows are, because another program has written: the next frame begins below that. */
  forget(): void {
    this.#rows = []
  }

  /** Makes the next frame draw every row again, because something was typed over them. */
  refresh(): void {
    this.#columns = 0
  }

  /** Draws only the rows that have changed. */
  #changed(rows: readonly string[]): string {
    let [text, at] = ['', rows.length - 1]
    for (const [index, row] of rows.entries()) {
      if (row === this.#rows[index]) continue
      text += `${vertical(index - at)}${row}${ERASE_TO_END}\r`
      at = index
    }
    return text === '' ? '' : text + vertical(rows.length - 1 - at)
  }

  /** Erases the rows. In a terminal that has become narrower each may take several. */
  #erased(columns: number): string {
    if (this.#rows.length === 0) return ''
    const heights = this.#rows
      .slice(0, -1)
      .map((row) => (this.#reflows ? Math.ceil(textWidth(stripVTControlCharacters(row)) / columns) : 1))
    const above = heights.reduce((sum, height) => sum + Math.max(1, height), 0)
    return `\r${vertical(-above)}${ERASE_BELOW}`
  }
}

function drawn(rows: readonly string[]): string {
  return rows.length === 0 ? '' : `${rows.join('\n')}\r`
}

function vertical(rows: number): string {
  if (rows === 0) return ''
  return rows < 0 ? `\u001b[${-rows}A` : `\u001b[${rows}B`
}

/** Whether the terminal wraps lines again when its width changes, as nearly all do. */
export function reflowsLines(env: Readonly<Record<string, string | undefined>>): boolean {
  if (env['TMUX']) return true
  return !env['STY'] && !env['XTERM_VERSION'] && env['TERM'] !== 'linux'
}
