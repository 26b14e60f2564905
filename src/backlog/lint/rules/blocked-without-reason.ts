import { sectionOf } from '../../model.ts'
import { hasText, valueSpan } from '../place.ts'
import type { Rule } from '../rule.ts'

/**
 * A task is BLOCKED and does not say why, so nobody knows what it needs.
 *
 * @fix Add `## Blocked` with the reason, or set the Status back to `TODO`.
 *
 * @example
 * ```markdown T-001.md
 * # T-001: Take payments
 *
 * - **Status**: BLOCKED
 *
 * ## Blocked
 * Needs STRIPE_KEY.
 * ```
 *
 * @example
 * ```markdown T-001.md
 * # T-001: Take payments
 *
 * - **Status**: BLOCKED
 * ```
 * ```text
 * docs/tasks/T-001.md:3:15 warning blocked-without-reason BLOCKED, and no "## Blocked" says why
 * ```
 */
export const blockedWithoutReason: Rule = {
  name: 'blocked-without-reason',
  severity: 'warning',
  start: () => (task) => {
    const reason = sectionOf(task, 'Blocked')
    if (task.status !== 'BLOCKED' || (reason && hasText(task, reason))) return []
    return [{ span: valueSpan(task, 'Status'), message: 'BLOCKED, and no "## Blocked" says why' }]
  },
}
