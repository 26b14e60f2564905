import { basename } from 'node:path'
import { unreachable } from '../base/errors.ts'
import { tellingLines } from '../base/failure-lines.ts'
import type { GateResult, Usage } from '../base/nouns.ts'
import { counted, fewOf } from '../base/text.ts'
import { clockText, formatDuration, secondsBetween, waitText } from '../base/time.ts'
import { formatCost } from '../base/usage.ts'
import type {
  Caged,
  RunEvent,
  RunFinished,
  RunStarted,
  SandboxState,
  StopMode,
  WorkerJoined,
  Interference,
} from '../engine/events/event.ts'
import { isTestGate } from '../engine/gates/test-counts.ts'
import {
  strong,
  dim,
  accent,
  good,
  bad,
  dotted,
  line,
  paragraph,
  spread,
  facts,
  type Block,
  type View,
  type Line,
  type Piece,
} from './block.ts'
import { timeLimitText } from './task-lines.ts'

/** An event in words, for every view of a run; empty if a person need not know of it, or sees it in another way. */
export function tell(event: RunEvent): string {
  switch (event.type) {
    case 'recovered':
    case 'warning':
      return event.message
    case 'worker-joined':
      return `worker ${event.worker}: ${workerText(event)}`
    case 'worker-left':
      return `worker ${event.worker}: ${event.reason}`
    case 'preparing':
      return `prepares: ${event.command}`
    case 'baseline-started':
      return `baseline: ${event.gates.map(({ name }) => name).join(', ')}`
    case 'agent-text':
      return event.text
    case 'agent-tool':
      return event.summary
    case 'agent-retrying':
      return event.until === null
        ? event.reason
        : `waits for its service ${waitText(event.until, event.at)}: ${event.reason}`
    case 'agent-signal':
      if (event.signal === 'progress') return event.text
      return `says that it is ${event.signal}: ${event.text}`
    case 'task-added':
      return `added ${event.added}: ${event.title}`
    case 'taken-over': {
      const session = event.session === null ? '' : `, in its session ${event.session}`
      return `you control ${event.agent}${session}; exit it to run the gates`
    }
    case 'gates-skipped':
      return `skipped, as nothing in their paths has changed: ${event.gates.join(', ')}`
    case 'gates-again':
      return `the gates run again: ${againText(event)}`
    case 'witness-started':
    case 'review-started':
      return ''
    case 'review':
      return [event.words, ...event.notMet, ...event.findings].join('; ')
    case 'witness':
      return [...event.changed, event.words ?? ''].filter(Boolean).join('; ')
    case 'interference':
      return interferenceText(event.interference)
    case 'caged':
      return cagedText(event)
    case 'candidate-ready':
      return 'passed, and waits to land'
    case 'landing-finished':
      if (event.result !== 'held') return ''
      if (event.paths.length === 0) return 'ready, and kept: it lands as soon as the checkout is free'
      return `ready, waits for ${fewOf(event.paths)}, which you have changed: commit or stash that, and it lands`
    case 'attempt-finished': {
      const { outcome, reason } = event
      // Its work may have been refused after it had ended.
      if (outcome === 'done' || outcome === 'gate-failed' || isRefused(event)) return 'agent says done'
      return outcome === 'blocked' ? `agent asks: ${reason}` : reason
    }
    case 'task-completed': {
      const { commit, files, added, removed, duration, cost } = event
      const change = `${counted(files, 'file')} +${added} −${removed}`
      const spent = cost === null ? [] : [formatCost(cost)]
      return [commit.slice(0, 7), change, formatDuration(duration), ...spent].join('   ')
    }
    case 'task-blocked': {
      const { id, asks, attempts } = event
      if (asks) return `blocked, with a question: ralph answer ${id} "…"`
      return `blocked · kept as ${attempts === 1 ? 'an attempt' : `${attempts} attempts`}: ralph attempts ${id}`
    }
    case 'task-given-up':
      return `not finished: ${event.reason}`
    case 'milestone-completed':
      return `${event.milestone} is complete: ${counted(event.tasks, 'task')}`
    case 'question':
      return event.text + choicesText(event)
    case 'answered':
      return event.isDefault ? `nobody answered: ${event.answer}` : event.answer
    case 'waiting':
      if (secondsBetween(event.at, event.until) < WORTH_SHOWING_SECONDS) return ''
      return `waits ${waitText(event.until, event.at)}: ${event.reason}`
    case 'paused':
      return 'paused: no new attempt starts'
    case 'resumed':
      return 'the run continues'
    case 'stopping':
      return STOPPING[event.how ?? 'unknown']
    case 'pushed':
      return `pushed ${event.branch}`
    case 'run-finished':
      return dotted(...endCounts(event), formatDuration(event.seconds))
    case 'run-started':
    case 'baseline-finished':
    case 'task-started':
    case 'attempt-started':
    case 'agent-started':
    case 'agent-usage':
    case 'agent-session':
    case 'handed-back':
    case 'gate-started':
    case 'gate-finished':
    case 'landing-started':
    case 'committing':
    case 'sealing':
      return ''
    default:
      return unreachable(event)
  }
}

/** A shorter wait is over before its line is read, and its reason is above it. */
const WORTH_SHOWING_SECONDS = 30

const STOPPING: Readonly<Record<StopMode | 'unknown', string>> = {
  unknown: 'stopping: no further attempt begins',
  'after-attempt': 'stopping after this attempt; Ctrl-C does not wait for it',
  clean: 'stopping now: what is under way is recorded; Ctrl-C again ends it at once',
  now: 'stopping at once: what still runs is ended',
}

/** The choices of a question, after its text. */
export function choicesText({ options }: { readonly options: readonly string[] }): string {
  return options.length > 0 ? ` (${options.join(' / ')})` : ''
}

/** `2 done`, `1 blocked`, `1 left`, `1 held`: how a run's tasks ended, the done ones always first. */
export function endCounts(
  run: Pick<RunFinished, 'completed' | 'blocked' | 'failed'> & { readonly held: readonly unknown[] },
): readonly [string, ...string[]] {
  const { completed, blocked, failed, held } = run
  const others = Object.entries({ blocked, left: failed, held })
  return [
    `${completed.length} done`,
    ...others.flatMap(([word, tasks]) => (tasks.length > 0 ? [`${tasks.length} ${word}`] : [])),
  ]
}

/** `2 places · only frontend, Heavy`: the tasks that a worker takes. */
export function workerText({ places, labels }: Pick<WorkerJoined, 'places' | 'labels'>): string {
  return counted(places, 'place') + (labels.length === 0 ? '' : ` · only ${fewOf(labels)}`)
}

/** Whether a check other than a gate refused work that the agent had called done. */
function isRefused({ outcome }: Extract<RunEvent, { type: 'attempt-finished' }>): boolean {
  return REFUSALS.has(outcome)
}

const REFUSALS: ReadonlySet<string> = new Set([
  'conflict',
  'missing-output',
  'no-change',
  'tests-changed',
  'no-tests',
  'secret',
  'too-large',
] satisfies Extract<RunEvent, { type: 'attempt-finished' }>['outcome'][])

/** What the sandbox refused, and the setting that would allow it. */
function cagedText({ by, action, target, allowedBy }: Caged): string {
  const what = { read: 'to read', write: 'to write', connect: 'to connect to' }[action]
  const how = allowedBy === null ? 'nothing allows that' : `allowed by ${allowedBy}`
  return `the sandbox refused the ${by} ${what} ${target} (${how})`
}

/** The agent's interference with files, and how it was handled. */
const OF_FILES = {
  'task-files': 'the agent changed task files: left out',
  origins: 'the agent changed a synced backlog: left out',
  written: 'the agent was only to read, and changed files: thrown away',
  'gates-changed': 'the agent changed what decides the gates:',
  'runs-later': 'the agent changed what agents, editors or git run later: read',
  'nested-repository': 'the agent made a repository of its own; it is not committed:',
} satisfies Partial<Record<Interference['kind'], string>>

function againText({ paths, landing }: Extract<RunEvent, { type: 'gates-again' }>): string {
  if (landing === 'moved') return 'other work has landed since'
  return landing === 'unseen' ? 'this run has not seen them pass' : `they changed ${fewOf(paths)}`
}

function interferenceText(interference: Interference): string {
  switch (interference.kind) {
    case 'commits':
      return `the agent committed ${counted(interference.commits.length, 'time')}: what it changed is part of the task's one commit`
    case 'other-base':
      return `the agent worked on ${interference.commits[0]?.slice(0, 10) ?? 'another commit'}: what it changed is brought onto the task's base`
    default:
      return `${OF_FILES[interference.kind]} ${fewOf(interference.paths)}`
  }
}

/** The sign before the words of an event. */
const SIGNS: Partial<Record<RunEvent['type'], Piece>> = {
  recovered: strong('recovered'),
  warning: strong('warning'),
  'worker-joined': good('+'),
  'worker-left': bad('−'),
  'agent-retrying': dim('◌'),
  'agent-signal': accent('·'),
  'task-added': accent('+'),
  'taken-over': accent('→'),
  review: dim('·'),
  witness: dim('·'),
  interference: strong('!'),
  caged: strong('!'),
  'candidate-ready': good('✓'),
  'landing-finished': strong('◐'),
  'task-completed': good('✓'),
  'task-blocked': bad('■'),
  'task-given-up': bad('■'),
  question: accent('?'),
  answered: accent('→'),
  waiting: dim('◌'),
  pushed: good('✓'),
}

/** The lines that an event leaves behind: its words, behind its sign. */
export function eventLines(event: RunEvent): View {
  switch (event.type) {
    case 'run-started':
      return runHead(event)
    case 'baseline-finished':
      return baselineBlocks(event.results)
    case 'task-started': {
      const { task, tier, limits } = event
      const most = dotted(tier, `${limits.turns} turns`, timeLimitText(limits.seconds))
      return [spread([accent(task.id), '  ', strong(task.title)], [dim(most)])]
    }
    case 'attempt-started': {
      const { counted: number, most, agent, model, at } = event
      const head = number > 0 ? `attempt ${number} of ${most}` : 'attempt'
      return [line(strong(head), dim(`  ${dotted(agent, model, clockText(at))}`))]
    }
    case 'agent-tool':
      if (event.status === 'ok') return []
      return event.status === 'running'
        ? [line(accent('▸'), ` ${tell(event)}`)]
        : [line(strong('✗'), ` ${tell(event)}`, dim(`  ${event.status}`))]
    case 'gate-finished':
      return gateBlocks([event.result])
    case 'attempt-finished':
      return attemptBlocks(event)
    case 'witness': {
      const { changed, words } = event
      const tests = changed.map((text) => paragraph([strong('!'), ' '], text))
      return [...tests, ...(words === null ? [] : [paragraph([SIGNS.witness!, ' '], words)])]
    }
    default: {
      const [text, sign] = [tell(event), SIGNS[event.type]]
      if (text === '') return []
      const head = sign ? [sign, endsTask(event) ? '  ' : ' '] : []
      return [{ kind: 'prose', head, text: text.replaceAll(/\s*\n\s*/g, ' ') }]
    }
  }
}

const ENDS: ReadonlySet<RunEvent['type']> = new Set<RunEvent['type']>([
  'landing-finished',
  'task-completed',
  'task-blocked',
  'task-given-up',
  'milestone-completed',
])

/** Whether an event says how a task, its landing or its milestone has ended. */
export function endsTask({ type }: RunEvent): boolean {
  return ENDS.has(type)
}

/** The head of a run: its folder, agent, gates, number of jobs and sandbox, and how to start workers. */
function runHead(event: RunStarted): View {
  const { gates, sandbox, jobs, queue } = event
  const checks = gates.map(({ name }) => name).join(', ')
  const untested = gates.some((gate) => isTestGate(gate)) ? '' : ' (no test gate)'
  const parts = [
    ...placeFacts(event, jobs),
    checks === '' ? 'no gates: nothing checks the work' : `gates: ${checks}${untested}`,
    sandboxText(sandbox),
  ]
  return [facts([], parts), ...(queue ? [line(dim(`workers: ralph worker --queue ${queue}`))] : [])]
}

/** `shop`, `main @ 91c2d07`, `claude`, `2 jobs`: where a run is, and what it works with. */
export function placeFacts(
  { root, branch, head, agent }: Pick<RunStarted, 'root' | 'branch' | 'head' | 'agent'>,
  jobs: number,
): readonly string[] {
  const place = `${branch ?? 'detached HEAD'} @ ${head.slice(0, 7)}`
  return [basename(root), place, agent, jobs > 1 ? `${jobs} jobs` : ''].filter(Boolean)
}

/** Whether agents and gates run in a sandbox, and if not, why. */
export function sandboxText({ on, reason }: SandboxState): string {
  if (on) return 'sandbox on'
  return reason === null ? 'sandbox off' : `sandbox off: ${reason}`
}

/** The results of the gates before the run begins. */
function baselineBlocks(results: readonly GateResult[]): View {
  if (results.length === 0) return []
  const failed = results.filter(({ verdict }) => verdict !== 'passed')
  return [
    gatesInRow('baseline   ', results),
    ...failed.map(({ gate, reason }) =>
      paragraph(['           ', bad('✗'), ' '], `${gate.name} fails before anything has begun: ${reason}`),
    ),
  ]
}

const MOST_LINES = 4

/** The passed gates in a row, and the failed ones with the lines of their output that a person needs. */
export function gateBlocks(results: readonly GateResult[]): View {
  const passed = results.filter(({ verdict }) => verdict === 'passed')
  const failed = results.filter(({ verdict }) => verdict !== 'passed')
  return [
    ...(passed.length > 0 ? [gatesInRow('', passed)] : []),
    ...failed.flatMap((result) => [
      line(...gateText(result), dim(`   ${result.reason}`)),
      ...tellingLines(result.excerpt, MOST_LINES).map((text) => line(dim(`  ${text}`))),
    ]),
  ]
}

function gatesInRow(head: string, results: readonly GateResult[]): Block {
  return { kind: 'hang', head: [head], words: results.map(gateText), gap: '   ' }
}

/** `✓ typecheck 1.2s`, or `✗ test 9.1s`; marked if it is not required. Only what was checked has a colour. */
export function gateText({ gate, verdict, seconds, tests, flaky }: GateResult): Line {
  const time = seconds < 59.95 ? `${seconds.toFixed(1)}s` : formatDuration(seconds)
  const remarks = [
    gate.required ? '' : 'not required',
    tests && verdict === 'passed' ? counted(tests.run, 'test') : '',
    flaky ? 'flaky: failed, then passed on the same code' : '',
  ].filter(Boolean)
  const name = ` ${gate.name} ${time}${remarks.length > 0 ? ` (${remarks.join(', ')})` : ''}`
  if (verdict === 'passed') return [good('✓'), name]
  if (verdict === 'interrupted') return ['·', name]
  return [gate.required ? bad('✗') : '✗', name]
}

/** How the agent ended, what else refused its work, and what it was denied. */
function attemptBlocks(event: Extract<RunEvent, { type: 'attempt-finished' }>): View {
  const { reason, seconds, usage, denied } = event
  const tools = (by: (typeof denied)[number]['allowedBy']) =>
    denied.flatMap(({ tool, allowedBy }) => (allowedBy === by ? [tool] : [])).join(', ')
  const [full, custom] = [tools('full'), tools('custom')]
  const warnings = [
    full && `it was denied ${full}: permission "full" allows it (--yolo)`,
    custom && `it was denied ${custom}: that is ralph's to do, and only "custom" allows it`,
  ].filter(Boolean)
  return [
    spread([tell(event)], [dim(spentText(seconds, usage))]),
    ...(isRefused(event) ? [paragraph([bad('✗'), ' '], reason)] : []),
    ...(event.outcome === 'tests-changed'
      ? [paragraph(['  '], `If ${event.id} may change its tests, add to its file: Tests: may change`)]
      : []),
    ...warnings.map((text) => paragraph([strong('!'), ' '], text)),
  ]
}

/** `31 turns · 6m 12s · $0.42`: the known parts. A time may be given in words. */
export function spentText(
  time: number | string | null,
  { turns, costUsd }: Partial<Pick<Usage, 'turns' | 'costUsd'>>,
): string {
  return dotted(
    turns != null && counted(turns, 'turn'),
    typeof time === 'number' ? formatDuration(time) : time,
    costUsd != null && formatCost(costUsd),
  )
}
