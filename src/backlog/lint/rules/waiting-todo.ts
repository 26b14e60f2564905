import { sectionOf } from '../../model.ts'
import { titleSpan } from '../place.ts'
import type { Rule } from '../rule.ts'

/**
 * A task is TODO and has a `## Blocked` section. So it is not eligible, although its Status says TODO.
 *
 * @fix Remove the section once the task can be done, or set the Status to `BLOCKED`.
 *
 * @example
 * ```markdown T-001.md
 * # T-001: Take payments
 *
 * - **Status**: TODO
 *
 * ## Description
 * Blocked cards are refused.
 * ```
 *
 * @example
 * ```markdown T-001.md
 * # T-001: Take payments
 *
 * - **Status**: TODO
 *
 * ## Blocked
 * Needs STRIPE_KEY.
 * ```
 * ```text
 * docs/tasks/T-001.md:5:1 warning waiting-todo the task is TODO, but waits as long as this section is here
 * ```
 */
export const waitingTodo: Rule = {
  name: 'waiting-todo',
  severity: 'warning',
  start: () => (task) => {
    const blocked = sectionOf(task, 'Blocked')
    if (task.status !== 'TODO' || !blocked) return []
    return [
      { span: titleSpan(blocked), message: 'the task is TODO, but waits as long as this section is here' },
    ]
  },
}
