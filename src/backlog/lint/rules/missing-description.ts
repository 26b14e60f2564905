import { hasText, headingSpan } from '../place.ts'
import { standsAsTask, type Rule } from '../rule.ts'

/**
 * The task has neither a Description nor a section of its author's own. The agent would get nothing but the title.
 *
 * @fix Add a `## Description` that says what to do and why.
 *
 * @example
 * ```markdown T-001.md
 * # T-001: Add the login form
 *
 * - **Status**: TODO
 *
 * ## Description
 * Email and password, checked on blur.
 * ```
 *
 * @example
 * ```markdown T-001.md
 * # T-001: Add the login form
 *
 * - **Status**: TODO
 *
 * ## Description
 * <!-- What and why -->
 *
 * ## Hints
 * Reuse the input.
 * ```
 * ```text
 * docs/tasks/T-001.md:1:1 warning missing-description nothing says what to do; add a "## Description"
 * ```
 */
export const missingDescription: Rule = {
  name: 'missing-description',
  severity: 'warning',
  start: () => (task) => {
    if (task.status === 'DONE' || !standsAsTask(task)) return []
    const isSaid = task.sections.some(
      (section) => (section.name === 'Description' || section.name === null) && hasText(task, section),
    )
    return isSaid
      ? []
      : [{ span: headingSpan(task), message: 'nothing says what to do; add a "## Description"' }]
  },
}
