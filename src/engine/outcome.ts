import { createHash } from 'node:crypto'
import type { AgentEnd } from '../agent/port.ts'
import { unreachable } from '../base/errors.ts'
import type { OutcomeKind } from '../events/outcome.ts'

/** How one attempt ended, with a reason that a person can act on. */
export interface Outcome {
  readonly kind: OutcomeKind
  /** One sentence. */
  readonly reason: string
  /** The part worth reading: the output of a gate or hook. */
  readonly detail: string
  /** Equal for equal failures. */
  readonly fingerprint: string
  /** When a rate limit ends, if the agent reported it. */
  readonly until: Date | null
  /**
   * Why another attempt is useless: for this task, for any task, or without more money; null if it may help. For a
   * limit it counts only after a wait that did not help.
   */
  readonly hopeless: 'task' | 'run' | 'money' | null
  /** For a conflict: the paths in which others have landed meanwhile; empty if only the gates see it. */
  readonly paths?: readonly string[]
}

/** What follows an attempt that ended so. */
interface Policy {
  /** `retry`: with the failure in the prompt; `wait`: until a limit ends, then the same again; `again`: at once, elsewhere. */
  readonly next: 'complete' | 'retry' | 'again' | 'wait' | 'block' | 'leave' | 'hand-over' | 'stop'
  /** Whether it uses up one of the task's attempts. */
  readonly counts: boolean
  readonly meaning: string
}

export const POLICIES: Readonly<Record<OutcomeKind, Policy>> = {
  done: { next: 'complete', counts: true, meaning: 'the work is there and every gate passed' },
  blocked: { next: 'block', counts: true, meaning: 'the agent cannot go on without somebody' },
  'no-marker': { next: 'retry', counts: true, meaning: 'the agent stopped without saying that it is done' },
  'gate-failed': { next: 'retry', counts: true, meaning: 'the agent reports done, but a gate failed' },
  'gate-missing': {
    next: 'stop',
    counts: false,
    meaning: 'a gate needs a program that is not there, which is not the work’s doing',
  },
  conflict: {
    next: 'retry',
    counts: false,
    meaning: 'it passed alone, and does not go together with what has landed since',
  },
  'missing-output': { next: 'retry', counts: true, meaning: 'a path under Produces is not there' },
  'no-change': { next: 'retry', counts: true, meaning: 'the agent reports done, but nothing has changed' },
  timeout: { next: 'retry', counts: true, meaning: 'the time was up' },
  'max-turns': { next: 'retry', counts: true, meaning: 'the turns were used up' },
  'agent-failed': { next: 'retry', counts: true, meaning: 'the agent ended with an error' },
  'rate-limited': {
    next: 'wait',
    counts: false,
    meaning: 'the service lets the agent do no more for a while',
  },
  'no-network': { next: 'wait', counts: false, meaning: 'the agent cannot reach its service' },
  auth: { next: 'stop', counts: false, meaning: 'the service does not know the agent' },
  skipped: { next: 'leave', counts: false, meaning: 'somebody skipped the task' },
  'taken-over': { next: 'hand-over', counts: false, meaning: 'somebody took over, and went on by hand' },
  interrupted: { next: 'stop', counts: false, meaning: 'somebody ended the run' },
  lost: { next: 'again', counts: false, meaning: 'the worker that made it was lost, or was ended' },
}

/** A short name for a failure, to compare it with others. */
export function fingerprintOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}

/** An outcome with defaults for what is not known. Its reason is the first line of a longer one, and its detail the others. */
export function outcome(
  kind: OutcomeKind,
  reason: string,
  more: Partial<Omit<Outcome, 'kind' | 'reason'>> = {},
): Outcome {
  const fingerprint = fingerprintOf(`${kind}: ${reason}`)
  const [first = '', ...rest] = reason.trim().split(/\r?\n/)
  return { kind, reason: first, detail: rest.join('\n'), fingerprint, until: null, hopeless: null, ...more }
}

/** The outcome for the agent's own end; `done` is still to be checked. */
export function outcomeOfEnd(end: AgentEnd | { readonly kind: 'skipped' | 'taken-over' }): Outcome {
  switch (end.kind) {
    case 'skipped':
      return outcome('skipped', 'the task was skipped')
    case 'taken-over':
      return outcome('taken-over', 'somebody took over')
    case 'done':
      return outcome('done', 'the agent says that it is done')
    case 'no-marker':
      return outcome('no-marker', 'the agent stopped without <TASK_DONE> at the end of its final message')
    case 'interrupted':
      return outcome('interrupted', 'the run was interrupted')
    case 'rate-limited':
      return outcome('rate-limited', end.reason, { until: end.until, hopeless: end.unpaid ? 'money' : null })
    case 'overloaded':
      return outcome('rate-limited', end.reason)
    case 'blocked':
    case 'auth':
    case 'no-network':
    case 'timeout':
    case 'max-turns':
      return outcome(end.kind, end.reason)
    case 'budget':
      return outcome('agent-failed', end.reason, { hopeless: 'money' })
    case 'refused':
      return outcome('agent-failed', end.reason, { hopeless: end.hopeless })
    case 'stalled':
    case 'crashed':
      return outcome('agent-failed', end.reason)
    default:
      return unreachable(end)
  }
}
