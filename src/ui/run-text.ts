import type { Denial } from '../events/denial.ts'
import type { Usage } from '../events/usage.ts'
import { formatDuration } from '../base/time.ts'
import { unreachable } from '../base/errors.ts'
import { counted, fewOf } from '../base/text.ts'
import type { GateResult } from '../events/gate.ts'
import type { Interference } from '../events/interference.ts'
import type { OutcomeKind } from '../events/outcome.ts'
import { formatCost } from '../events/usage.ts'
import { bad, good, type Line } from './block.ts'

/** `31 turns · 6m 12s · $0.42`: what is known of it. */
export function spentText(seconds: number, { turns, costUsd }: Pick<Usage, 'turns' | 'costUsd'>): string {
  const parts = [
    ...(turns === null ? [] : [counted(turns, 'turn')]),
    formatDuration(seconds),
    ...(costUsd === null ? [] : [formatCost(costUsd)]),
  ]
  return parts.join(' · ')
}

/** How the agent itself ended, in the words of the one who watched. */
export function endText(outcome: OutcomeKind, reason: string): string {
  switch (outcome) {
    case 'done':
    case 'gate-failed':
    case 'missing-output':
    case 'no-change':
      return 'agent says done'
    case 'blocked':
      return `agent asks: ${reason}`
    case 'no-marker':
    case 'timeout':
    case 'max-turns':
    case 'agent-failed':
    case 'rate-limited':
    case 'no-network':
    case 'auth':
    case 'skipped':
    case 'interrupted':
      return reason
    default:
      return unreachable(outcome)
  }
}

/** Whether what followed the agent's word spoke against it. */
export function isRefuted(outcome: OutcomeKind): boolean {
  return outcome === 'gate-failed' || outcome === 'missing-output' || outcome === 'no-change'
}

/** `✓ typecheck 1.2s`, or `✗ test 9.1s`; one that is not required says so. Only what was checked has a colour. */
export function gateText({ gate, verdict, seconds }: GateResult): Line {
  const name = ` ${gate.name} ${shortTime(seconds)}${gate.required ? '' : ' (not required)'}`
  if (verdict === 'passed') return [good('✓'), name]
  if (verdict === 'interrupted') return ['·', name]
  return [gate.required ? bad('✗') : '✗', name]
}

/** Tenths of a second matter for a gate, up to a minute. */
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

/** What the agent did that is not its to do, and what became of it. */
export function interferenceText(interference: Interference): string {
  switch (interference.kind) {
    case 'commits':
      return `the agent committed ${counted(interference.commits.length, 'time')}: kept with the attempt, folded into the one commit`
    case 'branch':
      return 'the agent left HEAD elsewhere: it is back'
    case 'operation':
      return `the agent left a ${interference.operation} unfinished: ended`
    case 'task-files':
      return `the agent changed task files: put back ${fewOf(interference.paths)}`
    case 'written':
      return `the agent was only to read, and changed: put back ${fewOf(interference.paths)} (its version is in ${interference.keptIn})`
    case 'went-back':
      return `the agent took out of the tree, and it was put back: ${fewOf(interference.paths)}`
    case 'refs-deleted':
      return `the agent deleted, and it was made again: ${fewOf(interference.refs)}`
    case 'refs-moved':
      return `the agent moved ${fewOf(interference.refs)}`
    case 'refs-made':
      return `the agent made ${fewOf(interference.refs)}`
    case 'git-settings':
      return `the agent changed git's settings: put back ${fewOf(interference.paths)} (its version is in ${interference.keptIn})`
    case 'gates-changed':
      return `the agent changed what decides the gates: ${fewOf(interference.paths)}`
    case 'runs-later':
      return `the agent changed what later starts of agents, editors or git run: read ${fewOf(interference.paths)}`
    case 'exposed':
      return `the agent made git see what it had ignored, which stays where it is and is not committed: ${fewOf(interference.paths)}`
    case 'nested-repository':
      return `the agent made a repository of its own, which is not committed: ${fewOf(interference.paths)}`
    default:
      return unreachable(interference)
  }
}
