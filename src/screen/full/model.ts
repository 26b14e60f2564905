import { shortened, withoutControls } from '../../base/text.ts'
import type { RunEvent } from '../../engine/events/event.ts'
import type { RunStatus } from '../run-status.ts'
import { BLANK, type Block } from '../block.ts'
import { RunStory } from '../run-story.ts'
import { eventLines } from '../tell.ts'

/** Nobody reads more than this of one text. */
const MOST_TEXT = 48 * 1024
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
  /** What has happened to each task; an agent's texts are laid out only where they are visible. */
  readonly #seen = new Map<string, Ring<Block | string>>()
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
  seen(id: string): Ring<Block | string> | undefined {
    return this.#seen.get(id)
  }

  event(event: RunEvent): void {
    const { type } = event
    if (type === 'agent-text') return this.#of(event.id).push(...linesIn(event.text.slice(-MOST_TEXT)))
    this.lines.push(...this.#story.show(event))
    if (type !== 'agent-tool' && type !== 'agent-usage' && type !== 'agent-started') this.revision++
    if (!('id' in event) || event.id === '') return
    const seen = this.#of(event.id)
    if (type === 'attempt-started' && seen.end > 0) seen.push(BLANK)
    // The pane's title names the task.
    if (type !== 'task-started') seen.push(...eventLines(event))
    if (type === 'task-completed' || type === 'task-blocked' || type === 'task-given-up')
      seen.shrink(MOST_LINES_OVER)
  }

  #of(id: string): Ring<Block | string> {
    let seen = this.#seen.get(id)
    if (!seen) this.#seen.set(id, (seen = new Ring(MOST_LINES)))
    return seen
  }
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
  readonly #kept: T[] = []
  /** The number of the oldest kept item. */
  first = 0

  constructor(most: number) {
    this.#most = most
  }

  /** The number of the next item. */
  get end(): number {
    return this.first + this.#kept.length
  }

  push(...values: readonly T[]): void {
    for (const value of values) this.#kept.push(value)
    this.shrink(this.#most)
  }

  /** The item with that number; undefined if it is not kept any more, or does not exist yet. */
  at(number: number): T | undefined {
    return this.#kept[number - this.first]
  }

  /** Keeps at most this many items. */
  shrink(most: number): void {
    this.first += this.#kept.splice(0, this.#kept.length - most).length
  }
}
