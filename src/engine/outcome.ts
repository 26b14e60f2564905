import { createHash } from 'node:crypto'
import type { AgentEnd } from '../agents/port.ts'
import { unreachable } from '../base/errors.ts'
import type { OutcomeKind } from '../base/names.ts'

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
   * Set if another attempt cannot help. `task`: not at this task. `agent`: this agent cannot help at any task. `budget`:
   * the money that it may cost is spent; `tokens`: those that it may use are used up. Of a limit whose end nobody names, waiting may not help: `money` if it seems to be
   * about money, `endless` if not. `person`: waiting helps only if a person does something meanwhile.
   */
  readonly hopeless: 'task' | 'agent' | 'budget' | 'tokens' | 'money' | 'endless' | 'person' | null
  /** For a conflict: the paths in which others have landed meanwhile; empty if only the gates see it. */
  readonly paths?: readonly string[]
}

/** What follows an attempt that ended so. */
interface Policy {
  /**
   * `retry`: with the failure in the prompt; `wait`: until a limit ends, then the same again; `again`: at once, elsewhere;
   * `unable`: another agent, as this one can do nothing in this run.
   */
  readonly next: 'complete' | 'retry' | 'again' | 'wait' | 'unable' | 'block' | 'leave' | 'hand-over' | 'stop'
  /** Whether it uses up one of the task's attempts. */
  readonly counts: boolean
}

export const POLICIES: Readonly<Record<OutcomeKind, Policy>> = {
  done: { next: 'complete', counts: true },
  blocked: { next: 'block', counts: true },
  'no-marker': { next: 'retry', counts: true },
  'gate-failed': { next: 'retry', counts: true },
  'gate-missing': { next: 'stop', counts: false },
  'base-changed': { next: 'stop', counts: false },
  'tests-changed': { next: 'retry', counts: true },
  'no-tests': { next: 'retry', counts: true },
  'review-failed': { next: 'retry', counts: true },
  secret: { next: 'retry', counts: true },
  'too-large': { next: 'retry', counts: true },
  conflict: { next: 'retry', counts: false },
  'missing-output': { next: 'retry', counts: true },
  'no-change': { next: 'retry', counts: true },
  timeout: { next: 'retry', counts: true },
  'max-turns': { next: 'retry', counts: true },
  'agent-failed': { next: 'retry', counts: true },
  'rate-limited': { next: 'wait', counts: false },
  'no-network': { next: 'wait', counts: false },
  auth: { next: 'unable', counts: false },
  skipped: { next: 'leave', counts: false },
  'taken-over': { next: 'hand-over', counts: false },
  interrupted: { next: 'stop', counts: false },
  lost: { next: 'again', counts: false },
}

/** The agent of work that a person completes. */
export const HUMAN = 'human'

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
      return outcome('rate-limited', end.reason, {
        until: end.until,
        hopeless: end.until === null ? (end.unpaid ? 'money' : 'endless') : null,
      })
    case 'overloaded':
      return outcome('rate-limited', end.reason)
    case 'no-network':
      return outcome('no-network', end.reason, { hopeless: end.isPage ? 'person' : null })
    case 'blocked':
    case 'auth':
    case 'timeout':
    case 'max-turns':
      return outcome(end.kind, end.reason)
    case 'budget':
      return outcome('agent-failed', end.reason, { hopeless: end.of ?? 'budget' })
    case 'refused':
      return outcome('agent-failed', end.reason, { hopeless: end.hopeless })
    case 'stalled':
    case 'crashed':
      return outcome('agent-failed', end.reason)
    default:
      return unreachable(end)
  }
}
