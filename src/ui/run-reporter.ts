import type { RunEvent } from '../run/events.ts'
import { layOutNow, type Canvas } from './layout.ts'
import { RunStory } from './run-story.ts'
import type { Measure } from './width.ts'

/** Where a run is reported. */
export interface ReportTarget {
  readonly write: (text: string) => void
  /** Asked anew for each line: a terminal may change its width meanwhile. */
  readonly canvas: () => Canvas
  readonly measure: Measure
  readonly now: () => Date
  /** Tell each step of the agent as a line, in a terminal too. */
  readonly verbose: boolean
}

const CLEAR_LINE = '\r\u001b[2K'

/** Reports a run to a person: lines that stay, and in a terminal below them one that says what is going on. */
export class RunReporter {
  readonly #target: ReportTarget
  readonly #story: RunStory
  #isLive = false

  constructor(target: ReportTarget) {
    this.#target = target
    this.#story = new RunStory({ steps: target.verbose || target.canvas().columns === null })
  }

  event(event: RunEvent): void {
    const { write, canvas, measure } = this.#target
    const text = layOutNow(this.#story.tell(event), canvas(), measure)
    write(this.#cleared() + text + this.#liveLine())
  }

  /** Draws the live line anew; called a few times a second. */
  tick(): void {
    const line = this.#liveLine()
    if (line !== '') this.#target.write(CLEAR_LINE + line)
  }

  /** Takes the live line away, so that somebody else can write: a question, the shell's prompt. */
  pause(): void {
    const cleared = this.#cleared()
    if (cleared !== '') this.#target.write(cleared)
  }

  #cleared(): string {
    const text = this.#isLive ? CLEAR_LINE : ''
    this.#isLive = false
    return text
  }

  #liveLine(): string {
    const { canvas, measure, now } = this.#target
    const { columns, colour } = canvas()
    const block = columns === null ? null : this.#story.now(now())
    if (columns === null || block === null) return ''
    this.#isLive = true
    // The last column stays free: some terminals go on to the next line as soon as it is filled.
    return layOutNow([block], { columns: columns - 1, colour }, measure).trimEnd()
  }
}
