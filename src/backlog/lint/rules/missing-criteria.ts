import { hasText, headingSpan } from '../place.ts'
import { standsAsTask, type Rule } from '../rule.ts'

/**
 * A task has no acceptance criteria. So the agent decides for itself when the work is finished.
 *
 * @fix Add `## Acceptance Criteria` with a list of what must be true in the end.
 *
 * @example
 * ```markdown T-001.md
 * # T-001: Add the login form
 *
 * - **Status**: TODO
 *
 * ## Acceptance Criteria
 * - [ ] An empty password is refused with a message
 * ```
 *
 * @example
 * ```markdown T-001.md
 * # T-001: Add the login form
 *
 * - **Status**: TODO
 *
 * ## Description
 * Email and password.
 * ```
 * ```text
 * docs/tasks/T-001.md:1:1 warning missing-criteria no "## Acceptance Criteria" says when it is done
 * ```
 *
 * @example
 * ```markdown T-001.md
 * # T-001: Add the login form
 *
 * - **Status**: TODO
 *
 * ## Acceptance Criteria
 * - [ ] <!-- What can be checked when it is done. -->
 * ```
 * ```text
 * docs/tasks/T-001.md:1:1 warning missing-criteria no "## Acceptance Criteria" says when it is done
 * ```
 */
export const missingCriteria: Rule = {
  name: 'missing-criteria',
  severity: 'warning',
  start: () => (task) => {
    if (task.status === 'DONE' || !standsAsTask(task)) return []
    const isSaid = task.sections.some(
      (section) => section.name === 'Acceptance Criteria' && hasText(task, section),
    )
    return isSaid
      ? []
      : [{ span: headingSpan(task), message: 'no "## Acceptance Criteria" says when it is done' }]
  },
}
