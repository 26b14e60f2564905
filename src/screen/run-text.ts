import type { Denial } from '../base/nouns.ts'
import type { Usage } from '../base/nouns.ts'
import { formatDuration } from '../base/time.ts'
import { unreachable } from '../base/errors.ts'
import { counted, fewOf } from '../base/text.ts'
import type { Caged, SandboxState, StopMode, WorkerJoined } from '../engine/events/event.ts'
import type { GateResult } from '../base/nouns.ts'
import type { Interference } from '../engine/events/event.ts'
import type { OutcomeKind } from '../base/outcome.ts'
import { formatCost } from '../base/usage.ts'
import { bad, good, type Line } from './block.ts'

/** `31 turns · 6m 12s · $0.42`: the known parts. */
export function spentText(seconds: number, { turns, costUsd }: Pick<Usage, 'turns' | 'costUsd'>): string {
  const parts = [
    ...(turns === null ? [] : [counted(turns, 'turn')]),
    formatDuration(seconds),
    ...(costUsd === null ? [] : [formatCost(costUsd)]),
  ]
  return parts.join(' · ')
}

/** `2 done`, `1 blocked`, `1 left`, `1 held`: how a run's tasks ended, the done ones always first. */
export function endCounts(
  run: Readonly<Record<'completed' | 'blocked' | 'failed' | 'held', readonly unknown[]>>,
): readonly [string, ...string[]] {
  const { completed, blocked, failed, held } = run
  return [
    `${completed.length} done`,
    ...(blocked.length > 0 ? [`${blocked.length} blocked`] : []),
    ...(failed.length > 0 ? [`${failed.length} left`] : []),
    ...(held.length > 0 ? [`${held.length} held`] : []),
  ]
}

/** `2 places · only frontend, Heavy`: the tasks that a worker takes. */
export function workerText({ places, labels }: Pick<WorkerJoined, 'places' | 'labels'>): string {
  const what = labels.length === 0 ? [] : [`only ${fewOf(labels)}`]
  return [counted(places, 'place'), ...what].join(' · ')
}

/** ` after this attempt`, behind a word that says that the run is to end; empty if it is not known how. */
export function stopText(how: StopMode | null): string {
  switch (how) {
    case null:
      return ''
    case 'after-attempt':
      return ' after this attempt'
    case 'clean':
      return ' now'
    case 'now':
      return ' at once'
    default:
      return unreachable(how)
  }
}

/** What stopping so does, and how the run ends sooner. */
export function stoppingText(how: StopMode | undefined): string {
  switch (how) {
    case undefined:
      return 'stopping: no further attempt begins'
    case 'after-attempt':
      return 'stopping after this attempt; Ctrl-C does not wait for it'
    case 'clean':
      return 'stopping now: what is under way is recorded; Ctrl-C again ends it at once'
    case 'now':
      return 'stopping at once: what still runs is ended'
    default:
      return unreachable(how)
  }
}

/** How the agent itself ended, in a person's words. */
export function endText(outcome: OutcomeKind, reason: string): string {
  switch (outcome) {
    case 'done':
    case 'gate-failed':
    case 'conflict':
    case 'missing-output':
    case 'no-change':
      return 'agent says done'
    case 'blocked':
      return `agent asks: ${reason}`
    case 'gate-missing':
    case 'no-marker':
    case 'timeout':
    case 'max-turns':
    case 'agent-failed':
    case 'rate-limited':
    case 'no-network':
    case 'auth':
    case 'skipped':
    case 'taken-over':
    case 'interrupted':
    case 'lost':
      return reason
    default:
      return unreachable(outcome)
  }
}

/** Whether a later check refuted the agent's "done". */
export function isRefuted(outcome: OutcomeKind): boolean {
  return (
    outcome === 'gate-failed' ||
    outcome === 'conflict' ||
    outcome === 'missing-output' ||
    outcome === 'no-change'
  )
}

/** `✓ typecheck 1.2s`, or `✗ test 9.1s`; marked if it is not required. Only what was checked has a colour. */
export function gateText({ gate, verdict, seconds }: GateResult): Line {
  const name = ` ${gate.name} ${shortTime(seconds)}${gate.required ? '' : ' (not required)'}`
  if (verdict === 'passed') return [good('✓'), name]
  if (verdict === 'interrupted') return ['·', name]
  return [gate.required ? bad('✗') : '✗', name]
}

/** With tenths of a second, up to a minute. */
function shortTime(seconds: number): string {
  return seconds < 59.95 ? `${seconds.toFixed(1)}s` : formatDuration(seconds)
}

/** What the agent was denied, one line for each permission that would allow it. */
export function deniedTexts(denied: readonly Denial[]): readonly string[] {
  const tools = (by: Denial['allowedBy']) =>
    denied.flatMap(({ tool, allowedBy }) => (allowedBy === by ? [tool] : [])).join(', ')
  const [full, custom] = [tools('full'), tools('custom')]
  return [
    ...(full === '' ? [] : [`it was denied ${full}: permission "full" allows it (--yolo)`]),
    ...(custom === '' ? [] : [`it was denied ${custom}: that is ralph's to do, and only "custom" allows it`]),
  ]
}

/** Whether agents and gates run in a sandbox, and if not, why. */
export function sandboxText({ on, reason }: SandboxState): string {
  if (on) return 'sandbox on'
  return reason === null ? 'sandbox off' : `sandbox off: ${reason}`
}

/** What the sandbox refused, and the setting that would allow it. */
export function cagedText({ by, action, target, allowedBy }: Omit<Caged, 'type' | 'id'>): string {
  const what = { read: 'to read', write: 'to write', connect: 'to connect to' }[action]
  const how = allowedBy === null ? 'nothing allows that' : `allowed by ${allowedBy}`
  return `the sandbox refused the ${by} ${what} ${target} (${how})`
}

/** The agent's interference, and how it was handled. */
export function interferenceText(interference: Interference): string {
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
