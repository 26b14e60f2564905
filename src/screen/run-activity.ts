import { counted } from '../base/text.ts'
import { formatDuration } from '../base/time.ts'
import type { AgentTool } from '../engine/events/event.ts'
import type { Gate } from '../base/nouns.ts'

/** An agent's last steps in one attempt, and how often it used which tool: a few lines, however long it works. */
export class Activity {
  readonly #gates: readonly Gate[]
  readonly #counts = { read: 0, edited: 0, ran: 0, other: 0 }
  readonly #checks = new Map<string, number>()
  #steps: readonly Step[] = []

  constructor(gates: readonly Gate[]) {
    this.#gates = gates
  }

  /** Adds a message, or a step that is reported for it. */
  step(text: string): void {
    this.#add({ text, since: null, end: '' })
  }

  /** Adds the begin or the end of a tool; a failure is shown after its name. */
  tool({ name, summary, status }: AgentTool, at: Date): void {
    if (status === 'running') {
      this.#count(name, summary)
      return this.#add({ text: summary, since: at, end: '' })
    }
    const running = this.#steps.findLast((step) => step.text === summary && step.since !== null)
    if (!running) {
      if (status !== 'ok') this.#add({ text: summary, since: null, end: ` ${status}` })
      return
    }
    const seconds = Math.max(0, (at.getTime() - (running.since?.getTime() ?? 0)) / 1000)
    const took = seconds < 1 ? '' : ` ${formatDuration(seconds)}`
    const end = status === 'ok' ? '' : status === 'failed' ? `  ✗${took}` : `  ✗ ${status}`
    this.#steps = this.#steps.map((step) => (step === running ? { ...step, since: null, end } : step))
  }

  /** The newest step; empty if there is none. */
  get newest(): string {
    const step = this.#steps.at(-1)
    return step ? step.text + step.end : ''
  }

  /** The steps before it, oldest first. */
  before(most: number): readonly string[] {
    return most <= 0
      ? []
      : this.#steps
          .slice(0, -1)
          .slice(-most)
          .map(({ text, end }) => text + end)
  }

  /** `read 6, edited 3, ran test 2×, 5 commands`; empty if it has used no tool. */
  get digest(): string {
    const { read, edited, ran, other } = this.#counts
    const parts = [
      ...(read > 0 ? [`read ${read}`] : []),
      ...(edited > 0 ? [`edited ${edited}`] : []),
      ...[...this.#checks].map(([name, times]) => `ran ${name}${times > 1 ? ` ${times}×` : ''}`),
      ...(ran > 0 ? [counted(ran, 'command')] : []),
      ...(other > 0 ? [counted(other, 'other tool')] : []),
    ]
    return parts.join(', ')
  }

  #add(step: Step): void {
    this.#steps = [...this.#steps, step].slice(-MOST_STEPS)
  }

  /** Counts a command that runs a gate under the gate's name. */
  #count(name: string, summary: string): void {
    const kind = KINDS.find(([, names]) => names.test(name))?.[0] ?? 'other'
    const gate = kind === 'ran' ? this.#gates.find(({ command }) => summary.includes(command)) : undefined
    if (gate) this.#checks.set(gate.name, (this.#checks.get(gate.name) ?? 0) + 1)
    else this.#counts[kind]++
  }
}

/** One step of the agent. */
interface Step {
  readonly text: string
  /** The start of a running tool; null once it is over. */
  readonly since: Date | null
  readonly end: string
}

const MOST_STEPS = 8

/** The kinds of tools, by the names that agents give them. */
const KINDS = [
  ['edited', /edit|write|patch|replace|create|insert|change/i],
  ['ran', /bash|shell|exec|command|terminal|^run/i],
  ['read', /read|view|grep|glob|search|find|fetch|open|^ls$|list/i],
] as const
