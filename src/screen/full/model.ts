import { shortened, withoutControls } from '../../base/text.ts'
import type { RunEvent } from '../../engine/events/event.ts'
import type { RunStatus } from '../run-status.ts'
import { BLANK, type Block } from '../block.ts'
import { RunStory } from '../run-story.ts'
import { told } from '../tell.ts'

/** What has happened to one task. */
export interface Seen {
  /** An agent's texts are stored unchanged: most are never laid out. */
  readonly lines: Ring<Block | string>
  /** The agent's output since the last view; made into lines at the next one. */
  unread: string
}

/** Nobody reads more than this between two frames. */
const MOST_UNREAD = 48 * 1024
/** A longer line is data rather than text for a person. */
const LONGEST_LINE = 2000

/** How far a person may scroll back in a task at work; a finished task keeps fewer lines, because its log has all of them. */
const MOST_LINES = 2000
const MOST_LINES_OVER = 200

/** A run as its events describe it so far: all that a full screen shows of it, in bounded memory. */
export class RunModel {
  /** Whether the run neither ended nor lives. */
  isDead = false
  /** The lines of the run as a whole, the same as in a terminal without the full screen. */
  readonly lines: Ring<Block> = new Ring(MOST_LINES)
  /** Counts changes of the set of tasks, or of their states. */
  revision = 0
  readonly #seen = new Map<string, Seen>()
  #story = new RunStory({ steps: false })

  get status(): RunStatus | null {
    return this.#story.status
  }

  /** Forgets everything, before another run is shown. */
  clear(): void {
    this.isDead = false
    this.revision++
    this.lines.shrink(0)
    this.#seen.clear()
    this.#story = new RunStory({ steps: false })
  }

  /** What has happened to that task; undefined if nothing has. */
  seen(id: string): Seen | undefined {
    const seen = this.#seen.get(id)
    if (seen) read(seen)
    return seen
  }

  event(event: RunEvent): void {
    const { type } = event
    if (type === 'agent-text') return this.#hear(event.id, event.text)
    for (const block of this.#story.show(event)) this.lines.push(block)
    if (type !== 'agent-tool' && type !== 'agent-usage' && type !== 'agent-started') this.revision++
    if ('id' in event && event.id !== '') this.#see(event, this.#of(event.id))
  }

  #of(id: string): Seen {
    let seen = this.#seen.get(id)
    if (!seen) this.#seen.set(id, (seen = { lines: new Ring<Block | string>(MOST_LINES), unread: '' }))
    return seen
  }

  #hear(id: string, text: string): void {
    const seen = this.#of(id)
    seen.unread += `${text}\n`
    // Not on each text, so that each character is moved only once.
    if (seen.unread.length > 2 * MOST_UNREAD) seen.unread = seen.unread.slice(-MOST_UNREAD)
  }

  #see(event: RunEvent, seen: Seen): void {
    // The pane's title names the task.
    const blocks = event.type === 'task-started' ? [] : told(event)
    if (blocks.length > 0) read(seen)
    if (event.type === 'attempt-started' && seen.lines.end > 0) seen.lines.push(BLANK)
    for (const block of blocks) seen.lines.push(block)
    const isOver = ['task-completed', 'task-blocked', 'task-given-up'].includes(event.type)
    if (isOver) seen.lines.shrink(MOST_LINES_OVER)
  }
}

/** Makes lines of the collected output. */
function read(seen: Seen): void {
  if (seen.unread === '') return
  for (const line of linesIn(seen.unread)) seen.lines.push(line)
  seen.unread = ''
}

/** The lines of an agent's output, without control characters: of a line that rewrites itself, the last state. */
export function linesIn(text: string): readonly string[] {
  const last = text.includes('\r') ? text.replaceAll(/[^\n]*\r(?=[^\n])/g, '') : text
  return withoutControls(last)
    .trimEnd()
    .split('\n')
    .map((one) => shortened(one.replaceAll('\t', '  '), LONGEST_LINE))
}

/** The newest of many items. Each keeps its number, so that a scrolled view stays where it is. */
export class Ring<T> {
  readonly #most: number
  #kept: T[] = []
  #dropped = 0

  constructor(most: number) {
    this.#most = most
  }

  /** The number of the oldest kept item. */
  get first(): number {
    return this.end - Math.min(this.#kept.length, this.#most)
  }

  /** The number of the next item. */
  get end(): number {
    return this.#dropped + this.#kept.length
  }

  push(value: T): void {
    this.#kept.push(value)
    // Not on each push, so that each item is moved only once.
    if (this.#kept.length >= 2 * this.#most) this.shrink(this.#most)
  }

  /** The item with that number; undefined if it is not kept any more, or does not exist yet. */
  at(number: number): T | undefined {
    return number < this.first ? undefined : this.#kept[number - this.#dropped]
  }

  /** Keeps at most this many items. */
  shrink(most: number): void {
    const over = Math.max(0, this.#kept.length - most)
    this.#kept = this.#kept.slice(over)
    this.#dropped += over
  }
}
