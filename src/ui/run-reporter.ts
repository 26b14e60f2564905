import { stripVTControlCharacters } from 'node:util'
import type { RunEvent } from '../events/event.ts'
import { layOutNow, type Canvas } from './layout.ts'
import { RunStory } from './run-story.ts'
import type { Measure } from './width.ts'

/** Where a run is reported. */
interface ReportTarget {
  readonly write: (text: string) => void
  /** Asked anew for each line: a terminal may change its width meanwhile. */
  readonly canvas: () => Canvas
  readonly measure: Measure
  readonly now: () => Date
  /** Tell each step of the agent as a line, in a terminal too. */
  readonly verbose: boolean
}

const CLEAR_LINE = '\r\u001b[2K'
const LINE_UP = '\u001b[1A'

/** Reports a run to a person: lines that stay, and in a terminal below them one that says what is going on. */
export class RunReporter {
  readonly #target: ReportTarget
  readonly #story: RunStory
  /** How many columns the live line takes; 0 where there is none. */
  #liveWidth = 0

  constructor(target: ReportTarget) {
    this.#target = target
    this.#story = new RunStory({ steps: target.verbose || target.canvas().columns === null })
  }

  event(event: RunEvent): void {
    const { write, canvas, measure } = this.#target
    const told = layOutNow(this.#story.tell(event), canvas(), measure)
    write(this.#cleared() + told + this.#liveLine())
  }

  /** Draws the live line anew; called a few times a second. */
  tick(): void {
    const cleared = this.#cleared()
    const line = this.#liveLine()
    if (cleared + line !== '') this.#target.write(cleared + line)
  }

  /** Takes the live line away, so that somebody else can write: a question, the shell's prompt. */
  pause(): void {
    const cleared = this.#cleared()
    if (cleared !== '') this.#target.write(cleared)
  }

  /** In a terminal that has become narrower the line has been broken, and stands on several rows. */
  #cleared(): string {
    const width = this.#liveWidth
    const columns = this.#target.canvas().columns ?? width
    this.#liveWidth = 0
    return width === 0 ? '' : CLEAR_LINE + (LINE_UP + CLEAR_LINE).repeat(Math.ceil(width / columns) - 1)
  }

  #liveLine(): string {
    const { canvas, measure, now } = this.#target
    const { columns, ...look } = canvas()
    const block = columns === null ? null : this.#story.now(now())
    if (columns === null || block === null) return ''
    // Two columns stay free for the ^C that a terminal shows, and the last one, for some go on to the next line as
    // soon as that is filled: then a part of the live line would be left standing.
    const text = layOutNow([block], { columns: Math.max(1, columns - 3), ...look }, measure).trimEnd()
    this.#liveWidth = measure(stripVTControlCharacters(text))
    return text
  }
}
