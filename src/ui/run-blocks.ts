import { basename } from 'node:path'
import { counted, fewOf } from '../base/text.ts'
import { clockText, formatDuration } from '../base/time.ts'
import type {
  Question,
  RunEvent,
  RunStarted,
  TaskBlocked,
  TaskCompleted,
  TaskStarted,
} from '../events/event.ts'
import type { GateResult } from '../events/gate.ts'
import { formatCost } from '../events/usage.ts'
import { tellingLines } from '../gates/failure-output.ts'
import { accent, bad, dim, line, paragraph, strong, type Block, type Line, type Piece } from './block.ts'
import { gateText, sandboxText } from './run-text.ts'
import { timeLimitText } from './task-lines.ts'

/** How a worker is started, where the run has some. */
export function workersBlocks({ queue }: RunStarted): readonly Block[] {
  return queue ? [line(dim(`workers: ralph worker --queue ${queue}`))] : []
}

/** What a run begins with: where it works, who does it, what checks it, how much at once, and in what cage. */
export function headBlock({ root, branch, head, agent, gates, sandbox, jobs }: RunStarted): Block {
  const place = `${branch ?? 'detached HEAD'} @ ${head.slice(0, 7)}`
  const checks =
    gates.length > 0
      ? `gates: ${gates.map(({ name }) => name).join(', ')}`
      : 'no gates: nothing checks the work'
  const facts = [
    basename(root),
    place,
    ...(agent === '' ? [] : [agent]),
    ...(jobs > 1 ? [`${jobs} jobs`] : []),
    checks,
    sandboxText(sandbox),
  ]
  return {
    kind: 'hang',
    head: [],
    words: facts.map((fact, at) => [at < facts.length - 1 ? `${fact} ·` : fact]),
    gap: ' ',
  }
}

/** What a person should know, and stops nothing. */
export function warningBlock(message: string): Block {
  return paragraph([strong('warning'), ' '], message)
}

/** What the gates say before anything has begun. */
export function baselineBlocks(results: readonly GateResult[]): readonly Block[] {
  if (results.length === 0) return []
  const failed = results.filter(({ verdict }) => verdict !== 'passed')
  return [
    gatesLine('baseline   ', results),
    ...failed.map(({ gate, reason }) =>
      paragraph(['           ', bad('✗'), ' '], `${gate.name} fails before anything has begun: ${reason}`),
    ),
  ]
}

/** The line that a task begins with. */
export function taskBlock({ task, tier, limits }: TaskStarted): Block {
  const facts = [tier, `${limits.turns} turns`, timeLimitText(limits.seconds)]
  return {
    kind: 'spread',
    left: [accent(task.id), '  ', strong(task.title)],
    right: [dim(facts.join(' · '))],
  }
}

const MOST_LINES = 4

/** Those that passed in a row, the others with what they said. */
export function gateBlocks(results: readonly GateResult[]): readonly Block[] {
  const passed = results.filter(({ verdict }) => verdict === 'passed')
  const failed = results.filter(({ verdict }) => verdict !== 'passed')
  return [...(passed.length > 0 ? [gatesLine('     ', passed)] : []), ...failed.flatMap(failedGate)]
}

function gatesLine(head: string, results: readonly GateResult[]): Block {
  return { kind: 'hang', head: [head], words: results.map(gateText), gap: '   ' }
}

/** The gate, and of what it said the lines that a person looks for. */
function failedGate(result: GateResult): readonly Block[] {
  return [
    line('     ', ...gateText(result), dim(`   ${result.reason}`)),
    ...tellingLines(result.excerpt, MOST_LINES).map((text) => line(dim(`       ${text}`))),
  ]
}

/** What a task came to: its commit, and what that took. */
export function completedText(event: TaskCompleted): string {
  const change = `${counted(event.files, 'file')} +${event.added} −${event.removed}`
  const cost = event.cost === null ? [] : [formatCost(event.cost)]
  return [event.commit.slice(0, 7), change, formatDuration(event.duration), ...cost].join('   ')
}

/** Work that has passed and cannot land, with what to do about that. */
export function heldBlock(paths: readonly string[]): Block {
  const text =
    paths.length === 0
      ? 'ready, and kept: it lands as soon as the checkout is free'
      : `ready, waits for ${fewOf(paths)}, which you have changed: commit or stash that, and it lands`
  return paragraph(['  ', strong('◐'), '  '], text)
}

/** The same while it lasts. */
export function heldLine(paths: readonly string[]): Line {
  const text = paths.length === 0 ? 'the checkout to be free' : `${fewOf(paths, 2)}: commit or stash that`
  return [strong('◐'), ` waits for ${text}`]
}

/** What a blocked task waits for. */
export function blockedText({ id, asks, attempts }: TaskBlocked): string {
  return asks
    ? `blocked, with a question: ralph answer ${id} "…"`
    : `blocked · ${kept(attempts)}: ralph attempts ${id}`
}

function kept(attempts: number): string {
  return attempts === 1 ? 'kept as an attempt' : `kept as ${attempts} attempts`
}

/** What an agent asks, and how to answer it from elsewhere. */
export function questionBlocks({ id, text, options }: Question): readonly Block[] {
  const choices = options.length > 0 ? ` (${options.join(' / ')})` : ''
  return [
    paragraph(['     ', accent('?'), ' '], `${text}${choices}`),
    line(dim(`       to answer: ralph answer ${id} "…"`)),
  ]
}

/** What an agent says by its tool of how it stands. */
export function signalText({ signal, text }: Extract<RunEvent, { type: 'agent-signal' }>): string {
  return signal === 'done' ? 'says that it is done' : `says that it is blocked: ${text}`
}

/** One thing that an agent does. */
export function stepBlock(text: string): Block {
  return line(dim(`     · ${text}`))
}

/** A wait that goes on: `limit until 14:30 (in 41m)`, and of a short one only how long. */
export function waitText(reason: string, until: Date, now: Date): string {
  const left = secondsBetween(now, until)
  const when =
    left < SHORT_WAIT_SECONDS
      ? `${formatDuration(left)} more`
      : `until ${clockText(until)} (in ${wholeMinutes(left)})`
  return `${reason} · ${when}`
}

const SHORT_WAIT_SECONDS = 90

/** `42s`, `41m`, `1h 12m`: seconds matter only within the first minute. */
export function wholeMinutes(seconds: number): string {
  return formatDuration(seconds < 60 ? seconds : Math.floor(seconds / 60) * 60)
}

/** What goes on now, at the head of its line. */
export const LIVE: Piece = accent('●')

/** Never less than none: clocks are set back. */
export function secondsBetween(from: Date, to: Date): number {
  return Math.max(0, (to.getTime() - from.getTime()) / 1000)
}
