import { basename } from 'node:path'
import type { Usage } from '../events/usage.ts'
import { clockText, formatDuration } from '../base/time.ts'
import { unreachable } from '../base/errors.ts'
import type { GateResult } from '../events/gate.ts'
import { tellingLines } from '../gates/failure-output.ts'
import type { RunEvent, TaskStarted } from '../events/event.ts'
import { UNKNOWN_USAGE } from '../events/usage.ts'
import { formatCost } from '../events/usage.ts'
import { accent, bad, BLANK, dim, good, line, paragraph, strong, type Block, type Piece } from './block.ts'
import { timeLimitText } from './task-lines.ts'
import { summaryOf, type Interrupted, type TaskEndEvent } from './run-summary.ts'
import { counted, fewOf } from '../base/text.ts'
import {
  cagedText,
  deniedTexts,
  endText,
  workerText,
  gateText,
  interferenceText,
  isRefuted,
  sandboxText,
  spentText,
} from './run-text.ts'

/** How much is told: in a terminal a live line shows what the agent does; elsewhere, or where asked, each step is a line. */
export interface Telling {
  readonly steps: boolean
}

interface Attempt {
  readonly number: number
  readonly startedAt: Date
  usage: Usage
  /** When the agent had its say; null while it works. */
  agentEndedAt: Date | null
  doing: string
  gates: GateResult[]
  /** How much the sandbox has refused. */
  caged: number
}

/** What tells a run: events in, lines to keep out, and lines that say what is going on now. */
export interface Story {
  tell(event: RunEvent): readonly Block[]
  now(now: Date): readonly Block[]
}

/** Tells a run as it goes on: events in, lines to keep out, and one line that says what is going on now. */
export class RunStory implements Story {
  readonly #telling: Telling
  readonly #ends: TaskEndEvent[] = []
  #task: TaskStarted | null = null
  #attempt: Attempt | null = null
  /** The task whose commit is being sealed. */
  #sealing: string | null = null
  /** The attempt that an interruption ended, where it is kept. */
  #interrupted: Interrupted | null = null
  #isLoop = false
  /** What goes on where no agent works: a wait, the gates, the seal. */
  #aside: ((now: Date) => string) | null = null

  constructor(telling: Telling) {
    this.#telling = telling
  }

  /** The lines that an event leaves behind. */
  tell(event: RunEvent): readonly Block[] {
    if (event.type !== 'agent-usage' && event.type !== 'agent-text') this.#aside = null
    switch (event.type) {
      case 'run-started':
        this.#isLoop = event.loop
        return [line(headOf(event)), ...workersLine(event)]
      case 'recovered':
        return [paragraph([strong('recovered'), ' '], event.message)]
      case 'warning':
        return [paragraph([strong('warning'), ' '], event.message)]
      case 'worker-joined':
        return [line(good('+'), ` worker ${event.worker}: ${workerText(event)}`)]
      case 'worker-left':
        return [
          paragraph([event.why === 'ended' ? dim('−') : bad('■'), ` worker ${event.worker}: `], event.reason),
        ]
      case 'preparing':
        this.#aside = (now) =>
          `prepares: ${event.command} ${formatDuration(secondsBetween(new Date(event.at), now))}`
        return []
      case 'baseline-started':
        this.#aside = () => `baseline: ${event.gates.map(({ name }) => name).join(', ')}`
        return []
      case 'baseline-finished':
        return baselineBlocks(event.results)
      case 'task-started':
        this.#task = event
        return [BLANK, taskLine(event)]
      case 'attempt-started':
        this.#attempt = {
          number: event.counted,
          startedAt: new Date(event.at),
          usage: UNKNOWN_USAGE,
          agentEndedAt: null,
          doing: `${event.agent} begins`,
          gates: [],
          caged: 0,
        }
        return []
      case 'agent-started':
      case 'candidate-ready':
      case 'landing-started':
        return []
      case 'question':
        return this.#question(event)
      case 'answered':
        return []
      case 'landing-finished':
        return event.result === 'held' ? [paragraph(['  ', strong('■'), '  '], heldText(event.paths))] : []
      case 'agent-signal':
        return event.signal === 'progress' ? this.#note(event.text) : this.#step(signalText(event))
      case 'task-added':
        return [paragraph(['     ', accent('+'), ' '], `added ${event.added}: ${event.title}`)]
      case 'gates-again':
        if (this.#attempt) this.#attempt.gates = []
        return this.#step(`the gates changed ${fewOf(event.paths)}, and run again on that`)
      case 'paused':
        return [paragraph([], 'paused: no further attempt begins')]
      case 'resumed':
        return [paragraph([], 'the run goes on')]
      case 'agent-text':
        return this.#say(event.text)
      case 'agent-tool':
        return event.status === 'running'
          ? this.#step(event.summary)
          : event.status === 'ok'
            ? []
            : this.#step(`${event.summary}: ${event.status}`)
      case 'agent-usage':
        if (this.#attempt) this.#attempt.usage = event.usage
        return []
      case 'agent-retrying':
        return this.#step(
          event.until
            ? `waits for its service until ${clockText(new Date(event.until))}: ${event.reason}`
            : event.reason,
        )
      case 'gate-started':
        if (this.#attempt) this.#attempt.agentEndedAt ??= new Date(event.at)
        this.#aside = (now) => `${event.gate.name} ${formatDuration(secondsBetween(new Date(event.at), now))}`
        return []
      case 'gate-finished':
        if (!this.#attempt) return gateBlocks([event.result])
        this.#attempt.gates.push(event.result)
        return []
      case 'caged':
        if (this.#attempt) this.#attempt.caged++
        return [paragraph(['     ', strong('!'), ' '], cagedText(event))]
      case 'interference':
        return [paragraph(['     ', strong('!'), ' '], interferenceText(event.interference))]
      case 'attempt-finished':
        if (event.outcome === 'interrupted' && event.ref !== null)
          this.#interrupted = { id: event.id, attempt: event.attempt }
        return this.#endAttempt(event)
      case 'committing':
        if (this.#attempt) this.#attempt.agentEndedAt ??= new Date(event.at)
        this.#aside = (now) => `commits ${formatDuration(secondsBetween(new Date(event.at), now))}`
        return []
      case 'sealing': {
        const isFirst = this.#sealing !== event.id
        this.#sealing = event.id
        this.#aside = () =>
          `seals the commit: ${formatDuration(event.seconds)} of about ${formatDuration(event.expectedSeconds)}`
        return isFirst
          ? this.#step(`seals the commit, in about ${formatDuration(event.expectedSeconds)}`)
          : []
      }
      case 'task-completed':
        this.#ends.push(event)
        return [line('  ', good('✓'), '  ', completedText(event))]
      case 'task-blocked':
        this.#ends.push(event)
        return [paragraph(['  ', bad('■'), '  '], blockedText(event))]
      case 'task-given-up':
        this.#ends.push(event)
        return [paragraph(['  ', bad('■'), '  '], `left as it was: ${event.reason}`)]
      case 'milestone-completed':
        return [line('  ', strong(event.milestone), ` is complete: ${counted(event.tasks, 'task')}`)]
      case 'waiting':
        this.#aside = (now) =>
          `waits ${formatDuration(secondsBetween(now, new Date(event.until)))} more: ${event.reason}`
        return this.#telling.steps &&
          secondsBetween(new Date(event.at), new Date(event.until)) >= WORTH_TELLING_SECONDS
          ? [stepLine(`waits until ${clockText(new Date(event.until))}: ${event.reason}`)]
          : []
      case 'stopping':
        return [
          paragraph([], 'stopping: the attempt is recorded first; Ctrl-C again ends everything at once'),
        ]
      case 'pushed':
        return [line(good('✓'), ` pushed ${event.branch}`)]
      case 'run-finished':
        this.#attempt = null
        return summaryOf(event, this.#ends, { isLoop: this.#isLoop, interrupted: this.#interrupted })
      default:
        return unreachable(event)
    }
  }

  /** What is going on now; nothing where nothing is. */
  now(now: Date): readonly Block[] {
    const { doing, number, usage, startedAt } = this.#attempt ?? { doing: '', number: null }
    const head: Piece[] = number === null ? [] : [`  ${number}  `]
    if (this.#aside) return [line(...head, accent('●'), ` ${this.#aside(now)}`)]
    if (!usage || !startedAt || this.#attempt?.agentEndedAt) return []
    const limit = this.#task ? ` of ${formatDuration(this.#task.limits.seconds)}` : ''
    const facts = [
      ...(usage.turns === null ? [] : [counted(usage.turns, 'turn')]),
      `${formatDuration(secondsBetween(startedAt, now))}${limit}`,
      ...(usage.costUsd === null ? [] : [formatCost(usage.costUsd)]),
    ]
    const left = [...head, accent('●'), ` ${doing}`]
    return [{ kind: 'spread', left, right: [dim(facts.join(' · '))], oneLine: true }]
  }

  /** A text may have many lines: the newest is what goes on now; of the others the first are told. */
  #say(text: string): readonly Block[] {
    const said = linesOf(text)
    const last = said.at(-1)
    if (this.#attempt && last !== undefined) this.#attempt.doing = last
    if (!this.#telling.steps) return []
    const more = said.length - MOST_LINES
    return [
      ...said.slice(0, MOST_LINES).map(stepLine),
      ...(more > 0 ? [stepLine(`… ${counted(more, 'line')} more`)] : []),
    ]
  }

  #step(doing: string): readonly Block[] {
    if (this.#attempt && doing !== '') this.#attempt.doing = doing
    return this.#telling.steps && doing !== '' ? [stepLine(doing)] : []
  }

  /** What the agent itself wants to be read. */
  #note(text: string): readonly Block[] {
    if (this.#attempt) this.#attempt.doing = text
    return [paragraph(['     ', '· '], text)]
  }

  /** Of a task that has failed the terminal asks by itself. */
  #question({ id, text, options, at }: Extract<RunEvent, { type: 'question' }>): readonly Block[] {
    if (!this.#attempt) return []
    this.#aside = (now) => `waits for an answer ${formatDuration(secondsBetween(new Date(at), now))}`
    const choices = options.length > 0 ? ` (${options.join(' / ')})` : ''
    return [
      paragraph(['     ', accent('?'), ' '], `${text}${choices}`),
      line(dim(`       to answer: ralph answer ${id} "…"`)),
    ]
  }

  #endAttempt(event: Extract<RunEvent, { type: 'attempt-finished' }>): readonly Block[] {
    const attempt = this.#attempt
    this.#attempt = null
    if (!attempt) return []
    const seconds = secondsBetween(attempt.startedAt, attempt.agentEndedAt ?? new Date(event.at))
    const said = endText(event.outcome, event.reason)
    const refused = attempt.caged === 0 ? '' : ` · ${counted(attempt.caged, 'refusal')}`
    const isFailed = attempt.gates.some(({ verdict }) => verdict !== 'passed')
    return [
      {
        kind: 'spread',
        left: [`  ${attempt.number}  ${said}`],
        right: [dim(`${spentText(seconds, event.usage)}${refused}`)],
      },
      ...gateBlocks(attempt.gates),
      ...(isRefuted(event.outcome) && !isFailed ? [paragraph(['     ', bad('✗'), ' '], event.reason)] : []),
      ...deniedTexts(event.denied).map((text) => paragraph(['     ', strong('!'), ' '], text)),
    ]
  }
}

function headOf({
  root,
  branch,
  head,
  agent,
  gates,
  sandbox,
}: Extract<RunEvent, { type: 'run-started' }>): string {
  const place = `${branch ?? 'detached HEAD'} @ ${head.slice(0, 7)}`
  const checks =
    gates.length > 0
      ? `gates: ${gates.map(({ name }) => name).join(', ')}`
      : 'no gates: nothing checks the work'
  return [basename(root), place, ...(agent === '' ? [] : [agent]), checks, sandboxText(sandbox)].join(' · ')
}

/** How a worker is started, where the run has some. */
function workersLine({ queue }: Extract<RunEvent, { type: 'run-started' }>): readonly Block[] {
  return queue ? [line(dim(`workers: ralph worker --queue ${queue}`))] : []
}

function baselineBlocks(results: readonly GateResult[]): readonly Block[] {
  if (results.length === 0) return []
  const failed = results.filter(({ verdict }) => verdict !== 'passed')
  return [
    gatesLine('baseline   ', results),
    ...failed.map(({ gate, reason }) =>
      paragraph(['           ', bad('✗'), ' '], `${gate.name} fails before anything has begun: ${reason}`),
    ),
  ]
}

function gatesLine(head: string, results: readonly GateResult[]): Block {
  return { kind: 'hang', head: [head], words: results.map(gateText), gap: '   ' }
}

function taskLine({ task, tier, limits }: TaskStarted): Block {
  const facts = [tier, `${limits.turns} turns`, timeLimitText(limits.seconds)]
  return {
    kind: 'spread',
    left: [accent(task.id), '  ', strong(task.title)],
    right: [dim(facts.join(' · '))],
  }
}

const MOST_LINES = 4
/** A shorter wait is over before its line is read, and its reason stands above it. */
const WORTH_TELLING_SECONDS = 30

/** Those that passed in a row, the others with what they said. */
function gateBlocks(results: readonly GateResult[]): readonly Block[] {
  const passed = results.filter(({ verdict }) => verdict === 'passed')
  const failed = results.filter(({ verdict }) => verdict !== 'passed')
  return [...(passed.length > 0 ? [gatesLine('     ', passed)] : []), ...failed.flatMap(failedGate)]
}

/** The gate, and of what it said the lines that a person looks for. */
function failedGate(result: GateResult): readonly Block[] {
  return [
    line('     ', ...gateText(result), dim(`   ${result.reason}`)),
    ...tellingLines(result.excerpt, MOST_LINES).map((text) => line(dim(`       ${text}`))),
  ]
}

function completedText(event: Extract<RunEvent, { type: 'task-completed' }>): string {
  const change = `${counted(event.files, 'file')} +${event.added} −${event.removed}`
  const cost = event.cost === null ? [] : [formatCost(event.cost)]
  return [event.commit.slice(0, 7), change, formatDuration(event.duration), ...cost].join('   ')
}

function heldText(paths: readonly string[]): string {
  const what =
    paths.length === 0 ? 'the checkout is not free' : `what you have there is in the way: ${fewOf(paths)}`
  return `held, and kept until it can land: ${what}`
}

function blockedText({ id, asks, attempts }: Extract<RunEvent, { type: 'task-blocked' }>): string {
  return asks
    ? `blocked, with a question: ralph answer ${id} "…"`
    : `blocked · ${kept(attempts)}: ralph attempts ${id}`
}

function kept(attempts: number): string {
  return attempts === 1 ? 'kept as an attempt' : `kept as ${attempts} attempts`
}

function signalText({ signal, text }: Extract<RunEvent, { type: 'agent-signal' }>): string {
  return signal === 'done' ? 'says that it is done' : `says that it is blocked: ${text}`
}

function stepLine(text: string): Block {
  return line(dim(`     · ${text}`))
}

/** Those that say something. */
function linesOf(text: string): readonly string[] {
  return text.split(/\r\n|\r|\n/).filter((one) => one.trim() !== '')
}

function secondsBetween(from: Date, to: Date): number {
  return Math.max(0, (to.getTime() - from.getTime()) / 1000)
}
