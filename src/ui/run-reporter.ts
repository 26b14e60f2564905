import { stripVTControlCharacters } from 'node:util'
import type { RunEvent } from '../events/event.ts'
import { layOutNow, type Canvas } from './layout.ts'
import { RunStory, type Story } from './run-story.ts'
import { TogetherStory } from './run-together.ts'
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

/** Reports a run to a person: lines that stay, and in a terminal below them one for each job that says what is going on. */
export class RunReporter {
  readonly #target: ReportTarget
  readonly #telling: { readonly steps: boolean }
  #story: Story
  /** How many columns each live line takes. */
  #liveWidths: readonly number[] = []

  constructor(target: ReportTarget) {
    this.#target = target
    this.#telling = { steps: target.verbose || target.canvas().columns === null }
    this.#story = new RunStory(this.#telling)
  }

  event(event: RunEvent): void {
    const { write, canvas, measure } = this.#target
    if (event.type === 'run-started' && (event.jobs > 1 || event.queue))
      this.#story = new TogetherStory(this.#telling)
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

  /** In a terminal that has become narrower a line has been broken, and stands on several rows. */
  #cleared(): string {
    const widths = this.#liveWidths
    const columns = this.#target.canvas().columns
    this.#liveWidths = []
    if (widths.length === 0) return ''
    const rows = widths.reduce((sum, width) => sum + Math.max(1, Math.ceil(width / (columns ?? width))), 0)
    return CLEAR_LINE + (LINE_UP + CLEAR_LINE).repeat(rows - 1)
  }

  #liveLine(): string {
    const { canvas, measure, now } = this.#target
    const { columns, ...look } = canvas()
    if (columns === null) return ''
    const blocks = this.#story.now(now()).slice(0, MOST_LIVE)
    if (blocks.length === 0) return ''
    // Two columns stay free for the ^C that a terminal shows, and the last one, for some go on to the next line as
    // soon as that is filled: then a part of the live line would be left standing.
    const room = { columns: Math.max(1, columns - 3), ...look }
    const lines = blocks.map((block) => layOutNow([block], room, measure).trimEnd())
    this.#liveWidths = lines.map((text) => measure(stripVTControlCharacters(text)))
    return lines.join('\n')
  }
}

/** More than a low terminal has rows could not be taken away again. */
const MOST_LIVE = 12
