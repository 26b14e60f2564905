import { headingSpan } from '../place.ts'
import type { Rule } from '../rule.ts'

/**
 * Two files have the same id. Ids are compared as numbers, so `T-1` and `T-001` are the same. None of these tasks is eligible,
 * because it is not clear which one the others depend on.
 *
 * @fix Rename all but one of the files to a free number, and correct their headings, and the Depends that name them.
 *
 * @example
 * ```markdown T-001-users.md
 * # T-001: Keep users
 *
 * - **Status**: TODO
 * ```
 * ```markdown T-002-login.md
 * # T-002: Add the login form
 *
 * - **Status**: TODO
 * ```
 *
 * @example
 * ```markdown T-001-login.md
 * # T-001: Add the login form
 *
 * - **Status**: TODO
 * ```
 * ```markdown T-1.md
 * # T-1: Keep users
 *
 * - **Status**: TODO
 * ```
 * ```text
 * docs/tasks/T-001-login.md:1:1 error duplicate-id T-001 is also the number of docs/tasks/T-1.md
 * docs/tasks/T-1.md:1:1 error duplicate-id T-1 is also the number of docs/tasks/T-001-login.md
 * ```
 */
export const duplicateId: Rule = {
  name: 'duplicate-id',
  severity: 'error',
  start:
    ({ claims }) =>
    (task) => {
      const rivals = claims.rivals.get(task.number)
      if (!rivals) return []
      const [first, second] = rivals.files
      const other = first === task.file ? second : first
      const more = rivals.files.length > 2 ? ` and ${rivals.files.length - 2} more` : ''
      return [{ span: headingSpan(task), message: `${task.id} is also the number of ${other}${more}` }]
    },
}
