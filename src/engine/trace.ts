import { formatDuration } from '../base/time.ts'
import type { Happening } from './events/event.ts'

/** A tool that the agent used. */
interface Step {
  readonly summary: string
  readonly begunAt: number
  seconds: number | null
}

/** How many of its last steps say what it was about to do. */
const MOST_STEPS = 5
const LONGEST_MESSAGE = 2000
/** A step that took less of the time is not why it ran out. */
const MUCH_OF_THE_TIME = 0.3

/** Follows what an agent does, to say what it was at when it was ended. */
export class Trace {
  readonly #now: () => number
  readonly #begunAt: number
  readonly #steps: Step[] = []
  #longest: Step | null = null
  #message = ''

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
    this.#begunAt = now()
  }

  see(event: Happening): void {
    if (event.type === 'agent-text') this.#message = event.text
    if (event.type !== 'agent-tool') return
    const { summary, status } = event
    if (status === 'running') {
      this.#steps.push({ summary, begunAt: this.#now(), seconds: null })
      this.#steps.splice(0, this.#steps.length - MOST_STEPS)
      return
    }
    const step = this.#steps.find((one) => one.summary === summary && one.seconds === null)
    if (step) this.#end(step)
  }

  /** What it did last, in Markdown; empty if it did nothing. */
  text(finalMessage: string): string {
    for (const step of this.#steps)
      if (step.seconds === null) this.#note(step, this.#secondsSince(step.begunAt))
    const message = (finalMessage.trim() || this.#message.trim()).slice(-LONGEST_MESSAGE)
    const steps = this.#steps.map(stepText)
    const parts = [
      steps.length === 0 ? '' : `Its last steps:\n${steps.join('\n')}`,
      this.#whereTimeWent(),
      message === '' ? '' : `Its last message:\n${message}`,
    ]
    return parts.filter((part) => part !== '').join('\n\n')
  }

  #end(step: Step): void {
    step.seconds = this.#secondsSince(step.begunAt)
    this.#note(step, step.seconds)
  }

  #note(step: Step, seconds: number): void {
    if (seconds > (this.#longest?.seconds ?? 0)) this.#longest = { ...step, seconds }
  }

  #whereTimeWent(): string {
    const all = this.#secondsSince(this.#begunAt)
    const { summary = '', seconds = 0 } = this.#longest ?? {}
    if (seconds === null || seconds < all * MUCH_OF_THE_TIME || seconds < 1) return ''
    return `Of its ${formatDuration(all)}, ${formatDuration(seconds)} went into: ${summary}`
  }

  #secondsSince(moment: number): number {
    return (this.#now() - moment) / 1000
  }
}

function stepText({ summary, seconds }: Step): string {
  return `- ${summary} (${seconds === null ? 'had not ended' : formatDuration(seconds)})`
}
