import { SECTION_NAMES } from '../../model.ts'
import { misspelling } from '../../../base/spelling.ts'
import { quote, titleSpan } from '../place.ts'
import type { Rule } from '../rule.ts'

/**
 * A section's heading is almost a heading that ralph knows, and the task has no section of that name. An author may have
 * other sections; ralph leaves them alone.
 *
 * @fix Correct the heading. If the heading is right, choose one that is less similar.
 *
 * @example
 * ```markdown T-001.md
 * # T-001: Add the login form
 *
 * - **Status**: TODO
 *
 * ## Out of scope
 * Social logins.
 * ```
 *
 * @example
 * ```markdown T-001.md
 * # T-001: Add the login form
 *
 * - **Status**: TODO
 *
 * ## Acceptence Criteria
 * - [ ] An empty password is refused
 * ```
 * ```text
 * docs/tasks/T-001.md:5:1 warning misspelled-section "Acceptence Criteria" is not a known section; did you mean Acceptance Criteria?
 * ```
 */
export const misspelledSection: Rule = {
  name: 'misspelled-section',
  severity: 'warning',
  start: () => (task) => {
    const present = new Set<string | null>(task.sections.map((section) => section.name))
    return task.sections.flatMap((section) => {
      const near = section.name === null ? misspelling(section.title, SECTION_NAMES) : undefined
      if (near === undefined || present.has(near)) return []
      const message = `${quote(section.title)} is not a known section; did you mean ${near}?`
      return [{ span: titleSpan(section), message }]
    })
  },
}
