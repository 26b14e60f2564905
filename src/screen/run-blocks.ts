import { basename } from 'node:path'
import { counted, fewOf } from '../base/text.ts'
import { formatDuration, waitText } from '../base/time.ts'
import type {
  Question,
  RunEvent,
  RunStarted,
  TaskBlocked,
  TaskCompleted,
  TaskStarted,
} from '../engine/events/event.ts'
import type { GateResult } from '../base/nouns.ts'
import { formatCost } from '../base/usage.ts'
import { tellingLines } from '../base/failure-lines.ts'
import { accent, bad, dim, line, paragraph, strong, type Block, type Line, type Piece } from './block.ts'
import { gateText, sandboxText } from './run-text.ts'
import { timeLimitText } from './task-lines.ts'

/** How to start a worker, if the run uses workers. */
export function workersBlocks({ queue }: RunStarted): readonly Block[] {
  return queue ? [line(dim(`workers: ralph worker --queue ${queue}`))] : []
}

/** The head of a run: its folder, agent, gates, number of jobs and sandbox. */
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

/** A warning, which stops nothing. */
export function warningBlock(message: string): Block {
  return paragraph([strong('warning'), ' '], message)
}

/** The results of the gates before the run begins. */
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

/** The first line of a task. */
export function taskBlock({ task, tier, limits }: TaskStarted): Block {
  const facts = [tier, `${limits.turns} turns`, timeLimitText(limits.seconds)]
  return {
    kind: 'spread',
    left: [accent(task.id), '  ', strong(task.title)],
    right: [dim(facts.join(' · '))],
  }
}

const MOST_LINES = 4

/** The passed gates in a row, and the failed ones with their output. */
export function gateBlocks(results: readonly GateResult[]): readonly Block[] {
  const passed = results.filter(({ verdict }) => verdict === 'passed')
  const failed = results.filter(({ verdict }) => verdict !== 'passed')
  return [...(passed.length > 0 ? [gatesLine('     ', passed)] : []), ...failed.flatMap(failedGate)]
}

function gatesLine(head: string, results: readonly GateResult[]): Block {
  return { kind: 'hang', head: [head], words: results.map(gateText), gap: '   ' }
}

/** A failed gate, with the lines of its output that a person needs. */
function failedGate(result: GateResult): readonly Block[] {
  return [
    line('     ', ...gateText(result), dim(`   ${result.reason}`)),
    ...tellingLines(result.excerpt, MOST_LINES).map((text) => line(dim(`       ${text}`))),
  ]
}

/** The result of a done task: its commit, and what it took. */
export function completedText(event: TaskCompleted): string {
  const change = `${counted(event.files, 'file')} +${event.added} −${event.removed}`
  const cost = event.cost === null ? [] : [formatCost(event.cost)]
  return [event.commit.slice(0, 7), change, formatDuration(event.duration), ...cost].join('   ')
}

/** Work that has passed and cannot land, with what to do about it. */
export function heldBlock(paths: readonly string[]): Block {
  const text =
    paths.length === 0
      ? 'ready, and kept: it lands as soon as the checkout is free'
      : `ready, waits for ${fewOf(paths)}, which you have changed: commit or stash that, and it lands`
  return paragraph(['  ', strong('◐'), '  '], text)
}

/** The same as a live line. */
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

/** An agent's question, and how to answer it from another terminal. */
export function questionBlocks({ id, text, options }: Question): readonly Block[] {
  const choices = options.length > 0 ? ` (${options.join(' / ')})` : ''
  return [
    paragraph(['     ', accent('?'), ' '], `${text}${choices}`),
    line(dim(`       to answer: ralph answer ${id} "…"`)),
  ]
}

/** A report of an agent through its tool. */
export function signalText({ signal, text }: Extract<RunEvent, { type: 'agent-signal' }>): string {
  return signal === 'done' ? 'says that it is done' : `says that it is blocked: ${text}`
}

/** One step of an agent. */
export function stepBlock(text: string): Block {
  return line(dim(`     · ${text}`))
}

/** A running wait: `limit · until 14:30 (in 41m)`, and for a short one only how long. */
export function runningWait(reason: string, until: Date, now: Date): string {
  const left = secondsBetween(now, until)
  return `${reason} · ${waitText(until, now)}${Math.ceil(left) < 60 ? '' : ` (in ${wholeMinutes(left)})`}`
}

/** `42s`, `41m`, `1h 12m`: seconds only within the first minute. */
export function wholeMinutes(seconds: number): string {
  return formatDuration(seconds < 60 ? seconds : Math.floor(seconds / 60) * 60)
}

/** The sign at the start of a live line. */
export const LIVE: Piece = accent('●')

/** Never negative: clocks may be set back. */
export function secondsBetween(from: Date, to: Date): number {
  return Math.max(0, (to.getTime() - from.getTime()) / 1000)
}
