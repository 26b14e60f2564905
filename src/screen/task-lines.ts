import type { Span } from '../base/diagnostic.ts'
import { placesIn } from '../base/places.ts'
import { unreachable } from '../base/errors.ts'
import { counted } from '../base/text.ts'
import { formatDuration } from '../base/time.ts'
import type { UnderWay } from '../backlog/json.ts'
import type { Reason, Selection, TaskState } from '../backlog/select/selection.ts'
import { asksIn, blockedReason, whyNot } from '../backlog/select/why-not.ts'
import type { TaskNumber } from '../backlog/ids.ts'
import { sectionOf, type Facts, type Task, type TaskHead } from '../backlog/model.ts'
import {
  strong,
  dim,
  accent,
  good,
  bad,
  dotted,
  spread,
  table,
  type Block,
  type View,
  type Line,
  type Piece,
  type Cell,
} from './block.ts'

/** The first line of a task that is shown in full. */
export function titleLine(task: Facts<'title' | 'milestone'>): Block {
  const right: Line = task.milestone ? [dim(task.milestone)] : []
  const title: Line = task.title === '' ? [] : ['  ', strong(task.title)]
  return spread([accent(task.id), ...title], right)
}

/** The label at the start of a line below the title. */
export function label(word: string): Line {
  return ['  ', dim(word.padEnd(9))]
}

/** A labelled list of words, wrapped below each other; nothing if it is empty. */
export function named(word: string, words: readonly Line[], gap: string): View {
  return words.length === 0 ? [] : [{ kind: 'hang', head: label(word), words, gap }]
}

export function commaSeparated(words: readonly string[]): readonly Line[] {
  return words.map((word, index) => [index < words.length - 1 ? `${word},` : word])
}

/** A task's needs, each with the sign of its state. */
export function dependenciesOf(task: Facts<'depends'>, selection: Selection<TaskHead>): readonly Line[] {
  if (task.depends.length === 0) return []
  const numbers = new Set(task.needs)
  const states = new Map<TaskNumber, TaskState<TaskHead>>()
  for (const state of selection.states) {
    if (numbers.has(state.task.number)) states.set(state.task.number, state)
  }
  return task.depends.map(({ id, number }) => {
    const state = states.get(number)
    return state ? [state.task.id, ' ', signOf(state)] : [id, ' ', dim('does not exist')]
  })
}

/** The tasks that become eligible after a task is done; nothing if there are none. */
export function thenLines(unblocked: readonly TaskHead[]): View {
  if (unblocked.length === 0) return []
  const verb = unblocked.length === 1 ? 'becomes' : 'become'
  return named('then', [...commaSeparated(unblocked.map(({ id }) => id)), [verb], ['eligible']], ' ')
}

/** The state of a task, as a sign that is readable without colour. */
export type StandingText = 'done' | 'eligible' | 'waiting' | 'blocked' | 'unclear'

/** The sign of each state. */
export const SIGNS = {
  done: good('✓'),
  eligible: accent('▸'),
  waiting: dim('·'),
  blocked: bad('■'),
  unclear: bad('?'),
} satisfies Record<StandingText, Piece>

export function signOf(state: TaskState<TaskHead>): Piece {
  return SIGNS[standingOf(state)]
}

/** The sign of something that is under way. */
export const LIVE: Piece = accent('●')

/** What a run does with a task now: `under way · attempt 2 · worker box`. */
export function underWayText({ attempt, worker }: UnderWay): string {
  return dotted('under way', attempt !== null && `attempt ${attempt}`, worker && `worker ${worker}`)
}

/** The number of tasks in each state. */
export function countByStanding(
  states: readonly TaskState<TaskHead>[],
): Readonly<Record<StandingText, number>> {
  const counts = { done: 0, eligible: 0, waiting: 0, blocked: 0, unclear: 0 }
  for (const state of states) counts[standingOf(state)]++
  return counts
}

export function standingOf({ task, eligible, waiting }: TaskState<TaskHead>): StandingText {
  if (task.status === 'DONE') return 'done'
  if (task.status === 'BLOCKED') return 'blocked'
  if (eligible) return 'eligible'
  if (task.status === null) return 'unclear'
  if (waiting.some((reason) => reason.kind === 'blocked-section')) return 'blocked'
  return waiting.some((reason) => reason.kind === 'invalid' || reason.kind === 'duplicate')
    ? 'unclear'
    : 'waiting'
}

/** A bar for a share of tasks; full only for all of them. */
export function bar(share: number, columns: number): Line {
  const full = Math.floor(share * columns)
  return ['█'.repeat(full), dim('░'.repeat(columns - full))]
}

/** A task's limits in words: `75 turns, 15 min`. */
export function limitsText(maxTurns: number, timeoutSeconds: number): string {
  return `${counted(maxTurns, 'turn')}, ${timeLimitText(timeoutSeconds)}`
}

/** A time limit in words: `15 min`. */
export function timeLimitText(seconds: number): string {
  return seconds % 60 === 0 && seconds < 3600 ? `${seconds / 60} min` : formatDuration(seconds)
}

/** A task that waits, and why. */
export interface WaitingTask {
  readonly id: string
  readonly title: string
  readonly reasons: readonly Explanation[]
}

/** Why each of these tasks waits: one row for each reason, with the task's name on the first. */
export function waitingRows(tasks: readonly WaitingTask[]): View {
  const rows = tasks.flatMap(({ id, title, reasons }) =>
    reasons.map(({ why, where }, index): readonly Cell[] => {
      return [index === 0 ? id : '', index === 0 ? title : '', [why, '  ', dim(where)]]
    }),
  )
  return table(rows, { shrink: [1], wrap: 2 })
}

/** Why a task is not eligible, and where to look or what to do. */
interface Explanation {
  readonly why: string
  /** A place in a file, or a command; empty if the reason says it all. */
  readonly where: string
}

/** The reasons why a task is not eligible, in words. Empty for one that is eligible or done. */
export function explain(state: TaskState): readonly Explanation[] {
  return explainListed(state, blockedReason(state.task), state.task)
}

/** The same for a task that was read whole only if `needsWhole` asks for it. */
export function explainListed(
  state: TaskState<TaskHead>,
  blockedReason: string,
  whole: Task | null,
): readonly Explanation[] {
  const { task, waiting } = state
  const others = waiting.filter((reason) => reason.kind !== 'dependency')
  const texts = whyNot(state, blockedReason)
  const first = texts.length - others.length
  const placeOf = placer(task, whole)
  return texts.map((why, index) => {
    if (task.status === 'BLOCKED')
      return { why, where: `ralph ${whole && asksIn(whole) ? `answer ${task.id} "…"` : `retry ${task.id}`}` }
    return { why, where: index < first ? '' : placeOf(others[index - first]!) }
  })
}

/** Whether the place of a reason needs the whole task. */
export function needsWhole({ task, waiting }: TaskState<TaskHead>): boolean {
  if (task.status === 'BLOCKED') return true
  return waiting.some(({ kind }) => kind === 'missing' || kind === 'blocked-section' || kind === 'invalid')
}

/** The first sentence of a text, cut to one row. */
export function firstSentence(text: string): string {
  return /^.*?(?:[.!?](?=\s)|[。！？])/.exec(text)?.[0] ?? text
}

type OtherReason = Exclude<Reason, { kind: 'dependency' }>

/** Finds the place of a reason; without the whole task only its file. */
function placer({ file }: TaskHead, whole: Task | null): (reason: OtherReason) => string {
  const placeAt = placesIn(whole?.source ?? '')
  const spans = new Map(whole?.depends.toReversed().map(({ id, span }) => [id, span]))
  return (reason) => {
    if (reason.kind === 'duplicate') return ''
    const span = whole && spanOf(reason, whole, spans)
    if (span) {
      const { line, column } = placeAt(span.start)
      return `${file}:${line}:${column}`
    }
    return reason.kind === 'invalid' ? `${file}:${reason.line}` : file
  }
}

function spanOf(reason: OtherReason, task: Task, needs: ReadonlyMap<string, Span>): Span | undefined {
  switch (reason.kind) {
    case 'missing':
      return needs.get(reason.id)
    case 'blocked-section':
      return sectionOf(task, 'Blocked')?.span
    case 'invalid':
      return task.problems.find(({ message, line }) => message === reason.message && line === reason.line)
        ?.span
    case 'cycle':
    case 'duplicate':
      return undefined
    default:
      return unreachable(reason)
  }
}
