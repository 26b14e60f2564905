import { basename } from 'node:path'
import { tellingLines } from '../base/failure-lines.ts'
import type { GateResult, Usage } from '../base/nouns.ts'
import { counted } from '../base/text.ts'
import { clockText, formatDuration } from '../base/time.ts'
import { formatCost } from '../base/usage.ts'
import type { RunEvent, RunStarted, SandboxState } from '../engine/events/event.ts'
import type { RunStatus } from './run-status.ts'
import { isRefused, tell } from './tell.ts'
import {
  strong,
  dim,
  accent,
  good,
  bad,
  line,
  paragraph,
  spread,
  facts,
  type Block,
  type Line,
  type Piece,
} from './block.ts'
import { timeLimitText } from './task-lines.ts'

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
export function told(event: RunEvent): readonly Block[] {
  switch (event.type) {
    case 'run-started':
      return runHead(event)
    case 'baseline-finished':
      return baselineBlocks(event.results)
    case 'task-started': {
      const { task, tier, limits } = event
      const most = [tier, `${limits.turns} turns`, timeLimitText(limits.seconds)].join(' · ')
      const left = [accent(task.id), '  ', strong(task.title)]
      return [spread(left, [dim(most)])]
    }
    case 'attempt-started': {
      const { counted: number, most, agent, model, at } = event
      const who = [agent, model, clockText(new Date(at))].filter(Boolean)
      const head = number > 0 ? `attempt ${number} of ${most}` : 'attempt'
      return [line(strong(head), dim(`  ${who.join(' · ')}`))]
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
function runHead(event: RunStarted): readonly Block[] {
  const { gates, sandbox, jobs, queue } = event
  const checks = gates.map(({ name }) => name).join(', ')
  const parts = [
    ...placeFacts(event, jobs),
    checks === '' ? 'no gates: nothing checks the work' : `gates: ${checks}`,
    sandboxText(sandbox),
  ]
  return [facts([], parts), ...(queue ? [line(dim(`workers: ralph worker --queue ${queue}`))] : [])]
}

/** `shop`, `main @ 91c2d07`, `claude`, `2 jobs`: where a run is, and what it works with. */
export function placeFacts(
  { root, branch, head, agent }: Pick<RunStatus, 'root' | 'branch' | 'head' | 'agent'>,
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
function baselineBlocks(results: readonly GateResult[]): readonly Block[] {
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
export function gateBlocks(results: readonly GateResult[]): readonly Block[] {
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
export function gateText({ gate, verdict, seconds }: GateResult): Line {
  const time = seconds < 59.95 ? `${seconds.toFixed(1)}s` : formatDuration(seconds)
  const name = ` ${gate.name} ${time}${gate.required ? '' : ' (not required)'}`
  if (verdict === 'passed') return [good('✓'), name]
  if (verdict === 'interrupted') return ['·', name]
  return [gate.required ? bad('✗') : '✗', name]
}

/** How the agent ended, what else refused its work, and what it was denied. */
function attemptBlocks(event: Extract<RunEvent, { type: 'attempt-finished' }>): readonly Block[] {
  const { outcome, reason, seconds, usage, denied } = event
  const tools = (by: (typeof denied)[number]['allowedBy']) =>
    denied.flatMap(({ tool, allowedBy }) => (allowedBy === by ? [tool] : [])).join(', ')
  const [full, custom] = [tools('full'), tools('custom')]
  const warnings = [
    full && `it was denied ${full}: permission "full" allows it (--yolo)`,
    custom && `it was denied ${custom}: that is ralph's to do, and only "custom" allows it`,
  ].filter(Boolean)
  return [
    spread([tell(event)], [dim(spentText(seconds, usage))]),
    ...(isRefused(outcome) ? [paragraph([bad('✗'), ' '], reason)] : []),
    ...warnings.map((text) => paragraph([strong('!'), ' '], text)),
  ]
}

/** `31 turns · 6m 12s · $0.42`: the known parts. A time may be given in words. */
export function spentText(
  time: number | string | null,
  { turns, costUsd }: Pick<Usage, 'turns' | 'costUsd'>,
): string {
  const parts = [
    turns !== null && counted(turns, 'turn'),
    typeof time === 'number' ? formatDuration(time) : time,
    costUsd !== null && formatCost(costUsd),
  ]
  return parts.filter(Boolean).join(' · ')
}
