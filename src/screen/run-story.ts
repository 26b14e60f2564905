import { withoutControls } from '../base/controls.ts'
import { unreachable } from '../base/errors.ts'
import { counted, fewOf } from '../base/text.ts'
import { formatDuration, waitText } from '../base/time.ts'
import type { RunEvent, TaskStarted } from '../engine/events/event.ts'
import type { Gate, GateResult } from '../base/nouns.ts'
import type { Usage } from '../base/nouns.ts'
import { formatCost, UNKNOWN_USAGE } from '../base/usage.ts'
import { accent, bad, BLANK, dim, good, line, paragraph, strong, type Block, type Line } from './block.ts'
import { Activity } from './run-activity.ts'
import {
  baselineBlocks,
  blockedText,
  completedText,
  gateBlocks,
  headBlock,
  heldBlock,
  LIVE,
  questionBlocks,
  secondsBetween,
  signalText,
  stepBlock,
  taskBlock,
  runningWait,
  warningBlock,
  workersBlocks,
} from './run-blocks.ts'
import { summaryOf, type Interrupted, type TaskEndEvent } from './run-summary.ts'
import {
  cagedText,
  deniedTexts,
  endText,
  workerText,
  gateText,
  interferenceText,
  isRefuted,
  spentText,
  stoppingText,
} from './run-text.ts'
import type { Measure } from './width.ts'

/** How much is shown: in a terminal live lines show the agent's steps; elsewhere, or on request, each step is a line. */
export interface StoryDetail {
  readonly steps: boolean
}

/** The space for the live lines. */
export interface LiveRoom {
  readonly columns: number
  /** The maximum of lines. */
  readonly rows: number
  readonly measure: Measure
}

/** A run as blocks: lines that each event leaves behind, and live lines. */
export interface Story {
  show(event: RunEvent): readonly Block[]
  live(now: Date, room: LiveRoom): readonly Block[]
}

interface Attempt {
  readonly number: number
  readonly startedAt: Date
  readonly activity: Activity
  usage: Usage
  /** When the agent ended; null while it works. */
  agentEndedAt: Date | null
  gates: GateResult[]
  /** The number of refused actions. */
  caged: number
  /** Whether a person makes it. */
  isByHand: boolean
}

/** Shows a running run: each event leaves lines that stay, and a few live lines show what is under way. */
export class RunStory implements Story {
  readonly #detail: StoryDetail
  readonly #ends: TaskEndEvent[] = []
  #task: TaskStarted | null = null
  #attempt: Attempt | null = null
  #gates: readonly Gate[] = []
  /** The task whose commit is being sealed. */
  #sealing: string | null = null
  /** The kept attempt that an interruption ended. */
  #interrupted: Interrupted | null = null
  #isLoop = false
  /** What is under way without an agent: a wait, the gates, the seal. */
  #aside: ((now: Date) => Line) | null = null

  constructor(detail: StoryDetail, gates: readonly Gate[] = []) {
    this.#detail = detail
    this.#gates = gates
  }

  /** The title of its task; empty if there is none. */
  get title(): string {
    return this.#task?.task.title ?? ''
  }

  show(event: RunEvent): readonly Block[] {
    if (event.type !== 'agent-usage' && event.type !== 'agent-text') this.#aside = null
    switch (event.type) {
      case 'run-started':
        this.#isLoop = event.loop
        this.#gates = event.gates
        return [headBlock(event), ...workersBlocks(event)]
      case 'recovered':
        return [paragraph([strong('recovered'), ' '], event.message)]
      case 'warning':
        return [warningBlock(event.message)]
      case 'worker-joined':
        return [line(good('+'), ` worker ${event.worker}: ${workerText(event)}`)]
      case 'worker-left':
        return [
          paragraph([event.why === 'ended' ? dim('−') : bad('■'), ` worker ${event.worker}: `], event.reason),
        ]
      case 'preparing':
        this.#sinceThen(event, `prepares: ${event.command}`)
        return []
      case 'baseline-started':
        this.#aside = () => [LIVE, ` baseline: ${event.gates.map(({ name }) => name).join(', ')}`]
        return []
      case 'baseline-finished':
        return baselineBlocks(event.results)
      case 'task-started':
        this.#task = event
        return [BLANK, taskBlock(event)]
      case 'attempt-started':
        this.#attempt = {
          number: event.counted,
          startedAt: new Date(event.at),
          activity: new Activity(this.#gates),
          usage: UNKNOWN_USAGE,
          agentEndedAt: null,
          gates: [],
          caged: 0,
          isByHand: false,
        }
        this.#attempt.activity.step(`${event.agent} begins`)
        return []
      case 'agent-started':
      case 'candidate-ready':
      case 'landing-started':
      case 'answered':
        return []
      case 'question':
        // The terminal itself asks about a failed task.
        if (!this.#attempt) return []
        this.#sinceThen(event, 'waits for an answer')
        return questionBlocks(event)
      case 'landing-finished':
        return event.result === 'held' ? [heldBlock(event.paths)] : []
      case 'agent-signal':
        if (event.signal !== 'progress') return this.#step(signalText(event))
        // The agent itself chose to report this.
        this.#attempt?.activity.step(event.text)
        return [paragraph(['     ', '· '], event.text)]
      case 'task-added':
        return [paragraph(['     ', accent('+'), ' '], `added ${event.added}: ${event.title}`)]
      case 'taken-over':
        return this.#takenOver(event)
      case 'handed-back':
        if (this.#attempt) this.#attempt.agentEndedAt = new Date(event.at)
        return []
      case 'gates-again':
        if (this.#attempt) this.#attempt.gates = []
        return this.#step(`the gates changed ${fewOf(event.paths)}, and run again on that`)
      case 'paused':
        return [paragraph([], 'paused: no further attempt begins')]
      case 'resumed':
        return [paragraph([], 'the run goes on')]
      case 'agent-text':
        return this.#text(event.text)
      case 'agent-tool':
        this.#attempt?.activity.tool(event, new Date(event.at))
        if (!this.#detail.steps || event.status === 'ok') return []
        return [stepBlock(event.status === 'running' ? event.summary : `${event.summary}: ${event.status}`)]
      case 'agent-usage':
        if (this.#attempt) this.#attempt.usage = event.usage
        return []
      case 'agent-retrying':
        return this.#step(
          event.until
            ? `waits for its service ${waitText(new Date(event.until), new Date(event.at))}: ${event.reason}`
            : event.reason,
        )
      case 'gate-started':
        this.#endAgent(event)
        this.#sinceThen(event, event.gate.name)
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
        this.#endAgent(event)
        this.#sinceThen(event, 'commits')
        return []
      case 'sealing':
        return this.#seal(event)
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
        return this.#wait(event)
      case 'stopping':
        return [paragraph([], stoppingText(event.how))]
      case 'pushed':
        return [line(good('✓'), ` pushed ${event.branch}`)]
      case 'run-finished':
        this.#attempt = null
        return summaryOf(event, this.#ends, { isLoop: this.#isLoop, interrupted: this.#interrupted })
      default:
        return unreachable(event)
    }
  }

  /** The live lines, empty if nothing is under way; above them the agent's last steps, as far as there is room. */
  live(now: Date, { rows, columns }: LiveRoom): readonly Block[] {
    const attempt = this.#attempt
    const number = attempt ? `  ${attempt.number}  ` : '  '
    if (this.#aside) return [line(number, ...this.#gatesSoFar(), ...this.#aside(now))]
    if (!attempt || attempt.agentEndedAt) return []
    const before = attempt.activity.before(Math.min(MOST_BEFORE, rows - 1))
    const above = before.map((text, at) =>
      line(at === 0 ? number : ' '.repeat(number.length), dim(`  ${text}`)),
    )
    const head = above.length === 0 ? number : ' '.repeat(number.length)
    return [
      ...above,
      {
        kind: 'spread',
        left: [head, LIVE, ` ${attempt.activity.newest}`],
        right: [dim(this.#spent(attempt, now, columns))],
        oneLine: true,
      },
    ]
  }

  /** What the attempt has taken so far; in a narrow terminal only the time. */
  #spent({ usage, startedAt, isByHand }: Attempt, now: Date, columns: number): string {
    const time = formatDuration(secondsBetween(startedAt, now))
    const limit = this.#task && !isByHand ? ` of ${formatDuration(this.#task.limits.seconds)}` : ''
    const facts = [
      ...(usage.turns === null ? [] : [counted(usage.turns, 'turn')]),
      `${time}${limit}`,
      ...(usage.costUsd === null ? [] : [formatCost(usage.costUsd)]),
    ].join(' · ')
    return facts.length > columns / 2 ? time : facts
  }

  #gatesSoFar(): Line {
    return (this.#attempt?.gates ?? []).flatMap((result) => [...gateText(result), '   '])
  }

  #sinceThen({ at }: RunEvent, what: string): void {
    const since = new Date(at)
    this.#aside = (now) => [LIVE, ` ${what} ${formatDuration(secondsBetween(since, now))}`]
  }

  #endAgent({ at }: RunEvent): void {
    if (this.#attempt) this.#attempt.agentEndedAt ??= new Date(at)
  }

  /** A text may have many lines: the newest becomes the live line; of those that stay only the first. */
  #text(text: string): readonly Block[] {
    // If it is not shown whole, only the end of a long text is needed.
    const written = linesOf(this.#detail.steps ? text : text.slice(-MOST_CHARACTERS))
    for (const one of written.slice(-MOST_LINES)) this.#attempt?.activity.step(one)
    if (!this.#detail.steps) return []
    const more = written.length - MOST_LINES
    return [
      ...written.slice(0, MOST_LINES).map(stepBlock),
      ...(more > 0 ? [stepBlock(`… ${counted(more, 'line')} more`)] : []),
    ]
  }

  #step(doing: string): readonly Block[] {
    if (doing === '') return []
    this.#attempt?.activity.step(doing)
    return this.#detail.steps ? [stepBlock(doing)] : []
  }

  #seal({ id, seconds, expectedSeconds }: Extract<RunEvent, { type: 'sealing' }>): readonly Block[] {
    const isFirst = this.#sealing !== id
    this.#sealing = id
    const expected = formatDuration(expectedSeconds)
    this.#aside = () => [LIVE, ` seals the commit: ${formatDuration(seconds)} of about ${expected}`]
    return isFirst && this.#detail.steps ? [stepBlock(`seals the commit, in about ${expected}`)] : []
  }

  #wait({ at, until, reason }: Extract<RunEvent, { type: 'waiting' }>): readonly Block[] {
    const end = new Date(until)
    this.#aside = (now) => [dim('◌'), ` ${runningWait(reason, end, now)}`]
    if (secondsBetween(new Date(at), end) < WORTH_SHOWING_SECONDS) return []
    return [paragraph(['     ', dim('◌'), ' '], `waits ${waitText(end, new Date(at))}: ${reason}`)]
  }

  #takenOver({ agent, session }: Extract<RunEvent, { type: 'taken-over' }>): readonly Block[] {
    const goesOn = session === null ? '' : `, which goes on with what it has begun (session ${session})`
    if (this.#attempt) {
      this.#attempt.isByHand = true
      this.#attempt.activity.step(`${agent}, by hand`)
    }
    return [paragraph(['     ', accent('→'), ' '], `yours: ${agent}${goesOn}. Leave it, and the gates judge`)]
  }

  #endAttempt(event: Extract<RunEvent, { type: 'attempt-finished' }>): readonly Block[] {
    const attempt = this.#attempt
    this.#attempt = null
    if (!attempt) return []
    const seconds = secondsBetween(attempt.startedAt, attempt.agentEndedAt ?? new Date(event.at))
    const { digest } = attempt.activity
    const isJudged = event.outcome === 'done' || isRefuted(event.outcome)
    const how = attempt.isByHand && isJudged ? 'done by hand' : endText(event.outcome, event.reason)
    const refused = attempt.caged === 0 ? '' : ` · ${counted(attempt.caged, 'refusal')}`
    const isFailed = attempt.gates.some(({ verdict }) => verdict !== 'passed')
    return [
      {
        kind: 'spread',
        left: [`  ${attempt.number}  ${how}`],
        right: [dim(`${spentText(seconds, event.usage)}${refused}`)],
      },
      ...(digest === '' ? [] : [line(dim(`     ${digest}`))]),
      ...gateBlocks(attempt.gates),
      ...(isRefuted(event.outcome) && !isFailed ? [paragraph(['     ', bad('✗'), ' '], event.reason)] : []),
      ...deniedTexts(event.denied).map((text) => paragraph(['     ', strong('!'), ' '], text)),
    ]
  }
}

/** How many earlier steps are shown above the present one. */
const MOST_BEFORE = 3
const MOST_LINES = 4
const MOST_CHARACTERS = 2000
/** A shorter wait is over before its line is read, and its reason is above it. */
const WORTH_SHOWING_SECONDS = 30

/** The lines that are not empty. */
function linesOf(text: string): readonly string[] {
  return withoutControls(text)
    .split('\n')
    .filter((one) => one.trim() !== '')
}
