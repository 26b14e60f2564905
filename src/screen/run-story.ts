import { counted, fewOf, withoutControls } from '../base/text.ts'
import { formatDuration, secondsBetween } from '../base/time.ts'
import { formatCost, totalUsage } from '../base/usage.ts'
import type {
  AgentTool,
  RunEvent,
  RunFinished,
  RunStarted,
  TaskBlocked,
  TaskCompleted,
  TaskGivenUp,
} from '../engine/events/event.ts'
import { statusAfter, type JobStatus, type RunStatus } from './run-status.ts'
import {
  dim,
  accent,
  bad,
  dotted,
  good,
  line,
  headed,
  paragraph,
  table,
  BLANK,
  type Block,
  type Cell,
  type Line,
  type View,
} from './block.ts'
import { heldLine, jobLine } from './run-state.ts'
import { LIVE } from './task-lines.ts'
import { endCounts, endsTask, gateBlocks, spentText, tell, eventLines } from './tell.ts'
import { cut, textWidth } from './printable.ts'

/** The space for the live lines, which are at most that many. */
interface LiveRoom {
  readonly columns: number
  readonly rows: number
}

type AttemptFinished = Extract<RunEvent, { type: 'attempt-finished' }>

/**
 * A run as lines: each event leaves lines that stay, and live lines show what is under way. If there are several jobs, the
 * task is named before each line.
 */
export class RunStory {
  /** Whether each step of an agent leaves lines: without live lines, or on request. */
  readonly #hasSteps: boolean
  #status: RunStatus | null = null
  #run: RunStarted | null = null
  /** What is prepared before an agent begins, and since when. */
  #preparing: { readonly text: string; readonly since: string } | null = null
  readonly #activities = new Map<string, Activity>()
  readonly #ends: TaskEndEvent[] = []
  #interrupted: Interrupted | null = null

  constructor({ steps }: { readonly steps: boolean }) {
    this.#hasSteps = steps
  }

  /** The state of the run; null before it has begun. */
  get status(): RunStatus | null {
    return this.#status
  }

  get #hasManyJobs(): boolean {
    return this.#run !== null && (this.#run.jobs > 1 || this.#run.queue !== null)
  }

  show(event: RunEvent): View {
    this.#status = statusAfter(this.#status, event)
    if (event.type !== 'agent-usage' && event.type !== 'agent-text') this.#preparing = null
    const blocks = this.#blocks(event)
    if (!this.#hasManyJobs || !('id' in event) || event.type === 'task-started') return blocks
    return blocks.map((block) => headed([dim(event.id)], block))
  }

  #blocks(event: RunEvent): View {
    const activity = 'id' in event ? this.#activities.get(event.id) : undefined
    activity?.event(event)
    if (event.type === 'task-completed' || event.type === 'task-blocked' || event.type === 'task-given-up')
      this.#ends.push(event)
    switch (event.type) {
      case 'run-started':
        this.#run = event
        return eventLines(event)
      case 'preparing':
      case 'baseline-started':
        this.#preparing = { text: tell(event), since: event.at }
        return []
      case 'task-started':
        return this.#hasManyJobs ? eventLines(event) : [BLANK, ...eventLines(event)]
      case 'attempt-started':
        this.#activities.set(event.id, new Activity(this.#run?.gates ?? [], event.agent))
        return []
      case 'agent-text':
        return this.#hasSteps ? textBlocks(event.text) : []
      case 'gate-finished':
      case 'gates-again':
        // Those of an attempt are shown below its end.
        return activity ? [] : indented(eventLines(event))
      case 'attempt-finished':
        this.#activities.delete(event.id)
        if (event.outcome === 'interrupted' && event.ref !== null) this.#interrupted = event
        return activity ? this.#attemptBlocks(event, activity) : []
      case 'answered':
        return activity && this.#hasSteps ? indented(eventLines(event)) : []
      case 'question':
        // The terminal itself asks about a failed task.
        if (!activity) return []
        return indented([...eventLines(event), line(dim(`  to answer: ralph answer ${event.id} "…"`))])
      case 'run-finished':
        this.#activities.clear()
        return summaryOf(event, this.#ends, {
          isLoop: this.#run?.loop === true,
          interrupted: this.#interrupted,
          agent: this.#run?.agent ?? null,
        })
      default:
        if (isStep(event) && !this.#hasSteps) return []
        if (endsTask(event)) return eventLines(event).map((block) => headed(['  '], block))
        return 'id' in event ? indented(eventLines(event)) : eventLines(event)
    }
  }

  #attemptBlocks(event: AttemptFinished, { digest, again, isByHand }: Activity): View {
    const [end, ...warnings] = eventLines(event)
    const gates = this.#status?.jobs.find(({ id }) => id === event.id)?.gates ?? []
    return [
      headed([`  ${event.counted}  `, isByHand ? 'by hand: ' : ''], end!),
      ...indented([
        ...[digest, ...again].filter(Boolean).map((text) => line(dim(text))),
        ...gateBlocks(gates),
        ...warnings,
      ]),
    ]
  }

  /** The live lines, empty if nothing is under way; above those of a single job its agent's last steps. */
  live(now: Date, room: LiveRoom): View {
    const { jobs = [] } = this.#status ?? {}
    const lines = jobs.flatMap((job) => this.#jobBlocks(job, now, room))
    if (this.#preparing) {
      const { text, since } = this.#preparing
      lines.unshift(line('  ', LIVE, ` ${text} ${formatDuration(secondsBetween(since, now))}`))
    }
    if (lines.length <= room.rows) return lines
    const shown = Math.max(0, room.rows - 1)
    return [...lines.slice(0, shown), line(dim(`  … ${lines.length - shown} more`))]
  }

  #jobBlocks(job: JobStatus, now: Date, { rows, columns }: LiveRoom): View {
    const { id, attempt, doing } = job
    const activity = this.#activities.get(id)
    const number = attempt ? `  ${attempt.counted}  ` : '  '
    const title = columns < ROOM_FOR_TITLES ? '' : `  ${padded(job.title)}`
    const head: Line = this.#hasManyJobs ? ['  ', accent(id), title, number] : [number]
    const held = this.#status?.held.find((one) => one.id === id)
    if (held) return [line(...head.slice(0, -1), '  ', ...heldLine(held.paths))]
    if (this.#status?.questions.some((one) => one.id === id))
      return [line(...head, LIVE, ' waits for an answer')]
    if (!activity || (doing !== 'agent' && doing !== 'person')) {
      const words = jobLine(job, now)
      return words.length === 0 ? [] : [line(...head, ...words)]
    }
    const most = this.#hasManyJobs ? 0 : Math.min(MOST_BEFORE, rows - 1)
    const steps = activity.steps.slice(Math.max(0, activity.steps.length - 1 - most))
    return steps.map((text, at): Block => {
      const margin = at === 0 ? head : [' '.repeat(number.length)]
      if (at < steps.length - 1) return line(...margin, dim(`  ${text}`))
      const right = [dim(spentSoFar(job, now, columns))]
      return { kind: 'spread', left: [...margin, LIVE, ` ${text}`], right, oneLine: true }
    })
  }
}

const indented = (blocks: View): View => blocks.map((block) => headed(['     '], block))

/** How many earlier steps are shown above the present one. */
const MOST_BEFORE = 3
const TITLE_COLUMNS = 22
const ROOM_FOR_TITLES = 90

function padded(text: string): string {
  const shown = cut(text, TITLE_COLUMNS)
  return shown + ' '.repeat(TITLE_COLUMNS - textWidth(shown))
}

/** What the attempt has taken so far; in a narrow terminal only the time. */
function spentSoFar({ attempt, usage, limits, doing }: JobStatus, now: Date, columns: number): string {
  const time = formatDuration(attempt ? secondsBetween(attempt.since, now) : 0)
  const facts = spentText(doing === 'person' ? time : `${time} of ${formatDuration(limits.seconds)}`, usage)
  return facts.length > columns / 2 ? time : facts
}

/** Whether an event is one of an agent's many steps. An agent chooses what it reports as its progress. */
function isStep(event: RunEvent): boolean {
  return event.type === 'agent-signal' ? event.signal !== 'progress' : STEPS.has(event.type)
}

const STEPS: ReadonlySet<RunEvent['type']> = new Set<RunEvent['type']>([
  'agent-tool',
  'agent-retrying',
  'candidate-ready',
])

const MOST_LINES = 4

/** The first lines of an agent's text. */
function textBlocks(text: string): View {
  const lines = linesOf(text)
  const more = lines.length - MOST_LINES
  const shown = [...lines.slice(0, MOST_LINES), ...(more > 0 ? [`… ${counted(more, 'line')} more`] : [])]
  return shown.map((one) => line(dim(`     · ${one}`)))
}

/** The lines that are not empty. */
function linesOf(text: string): readonly string[] {
  return withoutControls(text)
    .split('\n')
    .filter((one) => one.trim() !== '')
}

const MOST_STEPS = 8
/** Only the end of a long text is needed for the last steps. */
const MOST_CHARACTERS = 2000

/** The kinds of tools, by the names that agents give them. */
const KINDS = [
  ['edited', /edit|write|patch|replace|create|insert|change/i],
  ['ran', /bash|shell|exec|command|terminal|^run/i],
  ['read', /read|view|grep|glob|search|find|fetch|open|^ls$|list/i],
] as const

/** An agent's last steps in one attempt, and how often it used which tool: a few lines, however long it works. */
class Activity {
  readonly #gates: RunStarted['gates']
  readonly #counts = { read: 0, edited: 0, ran: 0, other: 0 }
  readonly #checks = new Map<string, number>()
  steps: readonly string[]
  /** Why the gates ran again. */
  again: readonly string[] = []
  /** Whether a person has taken over. */
  isByHand = false

  constructor(gates: RunStarted['gates'], agent: string) {
    this.#gates = gates
    this.steps = [`${agent} begins`]
  }

  event(event: RunEvent): void {
    if (event.type === 'agent-tool') this.#tool(event)
    else if (event.type === 'agent-text') this.#add(...linesOf(event.text.slice(-MOST_CHARACTERS)))
    else if (event.type === 'agent-signal' || event.type === 'agent-retrying') this.#add(tell(event))
    else if (event.type === 'gates-again') this.again = [...this.again, tell(event)]
    else if (event.type === 'taken-over') {
      this.isByHand = true
      this.#add(`${event.agent}, by hand`)
    }
  }

  /** `read 6, edited 3, ran test 2×, 5 commands`; empty if it has used no tool. */
  get digest(): string {
    const { read, edited, ran, other } = this.#counts
    const checks = [...this.#checks].map(([name, times]) => `ran ${name}${times > 1 ? ` ${times}×` : ''}`)
    const parts = [
      read > 0 && `read ${read}`,
      edited > 0 && `edited ${edited}`,
      checks.join(', '),
      ran > 0 && counted(ran, 'command'),
      other > 0 && counted(other, 'other tool'),
    ]
    return parts.filter(Boolean).join(', ')
  }

  #tool({ name, summary, status }: AgentTool): void {
    if (status === 'ok') return
    if (status === 'running') return this.#begin(name, summary)
    this.steps = this.steps.filter((step) => step !== summary)
    this.#add(`${summary}  ✗ ${status}`)
  }

  /** Counts a command that runs a gate under the gate's name. */
  #begin(name: string, summary: string): void {
    const kind = KINDS.find(([, names]) => names.test(name))?.[0] ?? 'other'
    const gate = kind === 'ran' ? this.#gates.find(({ command }) => summary.includes(command)) : undefined
    if (gate) this.#checks.set(gate.name, (this.#checks.get(gate.name) ?? 0) + 1)
    else this.#counts[kind]++
    this.#add(summary)
  }

  #add(...steps: readonly string[]): void {
    this.steps = [...this.steps, ...steps].slice(-MOST_STEPS)
  }
}

/** The event that ended one task of the run. */
export type TaskEndEvent = TaskCompleted | TaskBlocked | TaskGivenUp

/** A kept attempt that an interruption ended. */
type Interrupted = Pick<AttemptFinished, 'id' | 'attempt'>

/** The result of a run: the totals, a row for each task, and what a person can do now. */
export function summaryOf(
  finished: RunFinished,
  ends: readonly TaskEndEvent[],
  { isLoop, interrupted, agent }: { isLoop: boolean; interrupted: Interrupted | null; agent: string | null },
): View {
  const { blocked, waiting, seconds, cost } = finished
  const totals = dotted(
    ...endCounts(finished),
    // Waiting tasks may wait for the blocked ones.
    blocked.length > 0 && waiting > 0 && `${waiting} ${waiting === 1 ? 'waits' : 'wait'}`,
    spentText(seconds, { costUsd: cost }),
  )
  return [
    BLANK,
    line(totals),
    ...table(ends.map(rowOf), { wrap: 4 }),
    ...ends.flatMap(toLookAt),
    ...byAgent(ends, agent),
    ...closing(finished, ends),
    ...(finished.end !== 'interrupted'
      ? nextStep(finished, ends)
      : [
          ...(interrupted ? [line(keptText(interrupted))] : []),
          line(dim(`To go on: ralph run${isLoop ? ' --loop' : ''}`)),
        ]),
  ]
}

function rowOf(end: TaskEndEvent): readonly Cell[] {
  switch (end.type) {
    case 'task-completed': {
      const { id, commit, duration, cost, title } = end
      const spent = cost === null ? '' : formatCost(cost)
      return [id, good(commit.slice(0, 7)), formatDuration(duration), spent, title]
    }
    case 'task-blocked':
      return [end.id, bad('blocked'), '', '', end.reason]
    case 'task-given-up':
      return [end.id, 'left', '', '', end.reason]
  }
}

/** What a person may want to look at: tests that are not as they were, and where an agent went on without their answer. */
function toLookAt(end: TaskEndEvent): View {
  const { testsChanged = [], assumed = [] } = end.type === 'task-completed' ? end : {}
  return [
    ...testsChanged.map((text) => paragraph([], `${end.id} changed a test: ${text}`)),
    ...assumed.map((text) => paragraph([], `${end.id} went on with an answer of its own: ${text}`)),
  ]
}

/** Whose account has paid for what, if that is not the one agent of the run. */
function byAgent(ends: readonly TaskEndEvent[], usual: string | null): View {
  const done = ends.flatMap((end) => (end.type === 'task-completed' && end.agent !== undefined ? [end] : []))
  const agents = [...new Set(done.map(({ agent }) => agent!))]
  if (agents.every((agent) => agent === usual)) return []
  return agents.map((agent) => {
    const own = done.filter((end) => end.agent === agent)
    const seconds = own.reduce((sum, { duration }) => sum + duration, 0)
    const ids = fewOf(own.map(({ id }) => id))
    return line(dotted(`${agent}: ${ids}`, spentText(seconds, totalUsage(own.map(({ usage }) => usage)))))
  })
}

/** The reason of the end, unless it is in a task's row already, because a task ended the run. */
function closing({ end, reason, completed }: RunFinished, ends: readonly TaskEndEvent[]): View {
  const isTold = ends.some((one) => one.type !== 'task-completed' && reason === `${one.id}: ${one.reason}`)
  if ((end === 'done' && completed.length > 0) || reason === '' || isTold) return []
  return [paragraph([], `${reason[0]?.toUpperCase()}${reason.slice(1)}.`.replace(/\.\.$/, '.'))]
}

/** What to do about the first task that is not done; an answer is the least work. */
function nextStep({ blocked, failed }: RunFinished, ends: readonly TaskEndEvent[]): View {
  const question = ends.find((end) => end.type === 'task-blocked' && end.asks)
  if (question) return [line(dim(`Next: ralph answer ${question.id} "…"`))]
  const [first] = [...blocked, ...failed]
  const retry = blocked.length > 0 ? `, then ralph retry ${blocked[0]}` : ''
  return first === undefined ? [] : [line(dim(`Next: ralph attempts ${first}${retry}`))]
}

function keptText({ id, attempt }: Interrupted): string {
  return `Attempt ${attempt} at ${id} is kept: ralph attempts ${id}`
}
