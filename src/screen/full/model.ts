import type { AttemptStarted, RunEvent } from '../../engine/events/event.ts'
import type { GateResult } from '../../base/nouns.ts'
import type { OutcomeKind } from '../../base/outcome.ts'
import { statusAfter, type RunStatus } from '../run-status.ts'
import type { Usage } from '../../base/nouns.ts'
import { BLANK, dim, line, type Block } from '../block.ts'
import { RunStory, type Story } from '../run-story.ts'
import { TogetherStory } from '../run-together.ts'
import { activityOf, failedToolBlock, linesIn } from './activity.ts'
import { Ring } from './ring.ts'

/** An attempt as its events describe it. */
export interface AttemptSeen extends Pick<AttemptStarted, 'attempt' | 'counted' | 'most' | 'agent' | 'log'> {
  readonly since: string
  readonly gates: readonly GateResult[]
  /** Null while it is under way. */
  readonly end: {
    readonly outcome: OutcomeKind
    readonly reason: string
    readonly seconds: number
    readonly usage: Usage
  } | null
}

/** What has happened to one task, or to the run as a whole. */
export interface Seen {
  /** An agent's texts are stored unchanged: most are never laid out. */
  readonly lines: Ring<Block | string>
  /** The agent's output since the last view; made into lines at the next one. */
  readonly unread: Unread
  attempts: AttemptSeen[]
  /** The running tools: when each began, and on which line it is. */
  readonly tools: Map<string, { readonly at: string; readonly number: number }>
}

interface Unread {
  texts: string[]
  characters: number
  /** Whether output was dropped: nobody could have read it. */
  isCut: boolean
}

/** Nobody reads more than this between two frames. */
const MOST_UNREAD = 48 * 1024

/** How far a person may scroll back in a task at work; a finished task keeps fewer lines, because its log has all of them. */
const MOST_LINES = 2000
const MOST_LINES_OVER = 500
/** The limit for all finished tasks together: the oldest lose their lines. */
const MOST_TASKS_OVER = 200

/** A run as its events describe it so far: all that a full screen shows of it, in bounded memory. */
export class RunModel {
  status: RunStatus | null = null
  /** Whether the run neither ended nor lives. */
  isDead = false
  /** The lines of the run as a whole, the same as in a terminal without the full screen. */
  readonly story: Ring<Block> = new Ring(MOST_LINES)
  /** Counts changes of the set of tasks, or of their states. */
  revision = 0
  readonly #seen = new Map<string, Seen>()
  readonly #over = new Set<string>()
  #story: Story = new RunStory({ steps: false })

  /** Forgets everything, before another run is shown. */
  clear(): void {
    this.status = null
    this.isDead = false
    this.revision++
    this.story.shrink(0)
    this.#seen.clear()
    this.#over.clear()
    this.#story = new RunStory({ steps: false })
  }

  /** What has happened to that task; undefined if nothing has. */
  seen(id: string): Seen | undefined {
    const seen = this.#seen.get(id)
    if (seen) read(seen)
    return seen
  }

  event(event: RunEvent): void {
    const before = this.status
    this.status = statusAfter(before, event)
    if (event.type === 'run-started' && event.jobs > 1) this.#story = new TogetherStory({ steps: false })
    if (!isChatter(event)) this.revision++
    // An agent's texts are not among the lines that a run leaves behind.
    if (event.type !== 'agent-text') for (const block of this.#story.show(event)) this.story.push(block)
    if ('id' in event && event.id !== '') this.#see(event, event.id)
  }

  #see(event: RunEvent, id: string): void {
    const seen = this.#seen.get(id) ?? nothingSeen()
    this.#seen.set(id, seen)
    if (event.type === 'agent-text') return hear(seen, event.text)
    if (event.type !== 'agent-usage') read(seen)
    if (event.type === 'agent-tool' && event.status !== 'running') return endTool(seen, event)
    if (event.type === 'agent-tool') beginTool(seen, event)
    if (event.type === 'attempt-started') seen.tools.clear()
    noteAttempt(seen, event)
    const blocks = activityOf(event)
    // No blank line at the top.
    for (const block of seen.lines.end === 0 && blocks[0] === BLANK ? blocks.slice(1) : blocks)
      seen.lines.push(block)
    if (event.type === 'task-started') this.#over.delete(id)
    if (isEnd(event)) this.#end(id, seen)
  }

  #end(id: string, seen: Seen): void {
    seen.lines.shrink(MOST_LINES_OVER)
    this.#over.delete(id)
    this.#over.add(id)
    const [oldest] = this.#over
    if (this.#over.size <= MOST_TASKS_OVER || oldest === undefined) return
    this.#seen.get(oldest)?.lines.shrink(0)
    this.#over.delete(oldest)
  }
}

function nothingSeen(): Seen {
  const unread = { texts: [], characters: 0, isCut: false }
  return { lines: new Ring(MOST_LINES), unread, attempts: [], tools: new Map() }
}

function hear({ unread }: Seen, text: string): void {
  unread.texts.push(text)
  unread.characters += text.length
  if (unread.characters <= MOST_UNREAD || unread.texts.length === 1) return
  const kept = unread.texts.slice(Math.ceil(unread.texts.length / 2))
  unread.texts = kept
  unread.characters = kept.reduce((sum, one) => sum + one.length, 0)
  unread.isCut = true
}

/** Makes lines of the collected output. */
function read({ unread, lines }: Seen): void {
  if (unread.texts.length === 0) return
  if (unread.isCut) lines.push(line(dim('… its log has all of it')))
  for (const text of unread.texts) for (const line of linesIn(text)) lines.push(line)
  Object.assign(unread, { texts: [], characters: 0, isCut: false })
}

/** Whether an event does not change the state of the run. */
function isChatter({ type }: RunEvent): boolean {
  return type === 'agent-text' || type === 'agent-tool' || type === 'agent-usage' || type === 'agent-started'
}

function isEnd({ type }: RunEvent): boolean {
  return type === 'task-completed' || type === 'task-blocked' || type === 'task-given-up'
}

/** No agent runs more tools at once: those beyond are tools whose end it does not report. */
const MOST_TOOLS = 100

function beginTool(seen: Seen, { summary, at }: Extract<RunEvent, { type: 'agent-tool' }>): void {
  if (seen.tools.size >= MOST_TOOLS) seen.tools.clear()
  seen.tools.set(summary, { at, number: seen.lines.end })
}

/** A failed tool is marked on the line on which it began. */
function endTool(seen: Seen, event: Extract<RunEvent, { type: 'agent-tool' }>): void {
  const began = seen.tools.get(event.summary)
  seen.tools.delete(event.summary)
  if (event.status === 'ok') return
  const seconds = began ? (Date.parse(event.at) - Date.parse(began.at)) / 1000 : 0
  const failed = failedToolBlock(event.summary, event.status, seconds)
  if (began && seen.lines.at(began.number)) seen.lines.replace(began.number, failed)
  else seen.lines.push(failed)
}

function noteAttempt(seen: Seen, event: RunEvent): void {
  const last = seen.attempts.at(-1)
  const change = (part: Partial<AttemptSeen>): void => {
    if (last) seen.attempts[seen.attempts.length - 1] = { ...last, ...part }
  }
  switch (event.type) {
    case 'attempt-started': {
      const { attempt, counted, most, agent, log, at: since } = event
      seen.attempts.push({ attempt, counted, most, agent, log, since, gates: [], end: null })
      break
    }
    case 'gate-finished':
      change({ gates: [...(last?.gates ?? []), event.result] })
      break
    case 'gates-again':
      change({ gates: [] })
      break
    case 'attempt-finished': {
      const { outcome, reason, seconds, usage } = event
      change({ end: { outcome, reason, seconds, usage } })
      break
    }
    default:
  }
}
