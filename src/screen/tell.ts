import { unreachable } from '../base/errors.ts'
import { counted, fewOf } from '../base/text.ts'
import { formatDuration, secondsBetween, waitText } from '../base/time.ts'
import { formatCost } from '../base/usage.ts'
import type {
  Caged,
  RunEvent,
  RunFinished,
  StopMode,
  WorkerJoined,
  Interference,
} from '../engine/events/event.ts'

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
    case 'agent-tool':
      return event.type === 'agent-text' ? event.text : event.summary
    case 'agent-retrying':
      return event.until === null
        ? event.reason
        : `waits for its service ${waitText(new Date(event.until), new Date(event.at))}: ${event.reason}`
    case 'agent-signal':
      if (event.signal === 'progress') return event.text
      return `says that it is ${event.signal}: ${event.text}`
    case 'task-added':
      return `added ${event.added}: ${event.title}`
    case 'taken-over':
      return event.session === null
        ? `you control ${event.agent}; exit it to run the gates`
        : `you control ${event.agent}, in its session ${event.session}; exit it to run the gates`
    case 'gates-again':
      return `the gates changed ${fewOf(event.paths)}, and run again on that`
    case 'interference':
      return interferenceText(event.interference)
    case 'caged':
      return cagedText(event)
    case 'candidate-ready':
      return 'passed, and waits to land'
    case 'landing-finished':
      return event.result === 'held' ? heldText(event.paths) : ''
    case 'attempt-finished':
      return attemptText(event)
    case 'task-completed': {
      const { commit, files, added, removed, duration, cost } = event
      const change = `${counted(files, 'file')} +${added} −${removed}`
      const spent = cost === null ? '' : formatCost(cost)
      return [commit.slice(0, 7), change, formatDuration(duration), spent].filter(Boolean).join('   ')
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
      return event.text + (event.options.length > 0 ? ` (${event.options.join(' / ')})` : '')
    case 'answered':
      return event.answer
    case 'waiting': {
      const [at, until] = [new Date(event.at), new Date(event.until)]
      if (secondsBetween(at, until) < WORTH_SHOWING_SECONDS) return ''
      return `waits ${waitText(until, at)}: ${event.reason}`
    }
    case 'paused':
      return 'paused: no new attempt starts'
    case 'resumed':
      return 'the run continues'
    case 'stopping':
      return STOPPING[event.how ?? 'unknown']
    case 'pushed':
      return `pushed ${event.branch}`
    case 'run-finished':
      return `${endCounts(event).join(' · ')} · ${formatDuration(event.seconds)}`
    case 'run-started':
    case 'baseline-finished':
    case 'task-started':
    case 'attempt-started':
    case 'agent-started':
    case 'agent-usage':
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

/** `2 done`, `1 blocked`, `1 left`, `1 held`: how a run's tasks ended, the done ones always first. */
export function endCounts(
  run: Pick<RunFinished, 'completed' | 'blocked' | 'failed'> & { readonly held: readonly unknown[] },
): readonly [string, ...string[]] {
  const { completed, blocked, failed, held } = run
  const others = [
    [blocked, 'blocked'],
    [failed, 'left'],
    [held, 'held'],
  ] as const
  return [
    `${completed.length} done`,
    ...others.flatMap(([tasks, word]) => (tasks.length > 0 ? [`${tasks.length} ${word}`] : [])),
  ]
}

/** `2 places · only frontend, Heavy`: the tasks that a worker takes. */
export function workerText({ places, labels }: Pick<WorkerJoined, 'places' | 'labels'>): string {
  return counted(places, 'place') + (labels.length === 0 ? '' : ` · only ${fewOf(labels)}`)
}

/** Work that has passed and cannot land, with what to do about it. */
export function heldText(paths: readonly string[]): string {
  if (paths.length === 0) return 'ready, and kept: it lands as soon as the checkout is free'
  return `ready, waits for ${fewOf(paths)}, which you have changed: commit or stash that, and it lands`
}

/** How the agent itself ended: its work may have been refused after that. */
function attemptText({ outcome, reason }: Extract<RunEvent, { type: 'attempt-finished' }>): string {
  if (outcome === 'done' || outcome === 'gate-failed' || isRefused(outcome)) return 'agent says done'
  return outcome === 'blocked' ? `agent asks: ${reason}` : reason
}

/** Whether a check other than a gate refused work that the agent had called done. */
export function isRefused(outcome: string): boolean {
  return outcome === 'conflict' || outcome === 'missing-output' || outcome === 'no-change'
}

/** What the sandbox refused, and the setting that would allow it. */
function cagedText({ by, action, target, allowedBy }: Caged): string {
  const what = { read: 'to read', write: 'to write', connect: 'to connect to' }[action]
  const how = allowedBy === null ? 'nothing allows that' : `allowed by ${allowedBy}`
  return `the sandbox refused the ${by} ${what} ${target} (${how})`
}

/** The agent's interference, and how it was handled. */
function interferenceText(interference: Interference): string {
  switch (interference.kind) {
    case 'commits':
      return `the agent committed ${counted(interference.commits.length, 'time')}: what it changed is part of the task's one commit`
    case 'other-base':
      return `the agent worked on ${interference.commits[0]?.slice(0, 10) ?? 'another commit'}: what it changed is brought onto the task's base`
    case 'task-files':
      return `the agent changed task files: left out ${fewOf(interference.paths)}`
    case 'origins':
      return `the agent changed a synced backlog: left out ${fewOf(interference.paths)}`
    case 'written':
      return `the agent was only to read, and changed files: thrown away ${fewOf(interference.paths)}`
    case 'gates-changed':
      return `the agent changed what decides the gates: ${fewOf(interference.paths)}`
    case 'runs-later':
      return `the agent changed what agents, editors or git run later: read ${fewOf(interference.paths)}`
    case 'nested-repository':
      return `the agent made a repository of its own; it is not committed: ${fewOf(interference.paths)}`
    default:
      return unreachable(interference)
  }
}
