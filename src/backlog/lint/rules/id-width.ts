import { idOf } from '../../values.ts'
import { headingSpan } from '../place.ts'
import type { Rule } from '../rule.ts'

/**
 * An id has fewer or more leading zeros than the others, so a list of the files is not in the order of their numbers.
 *
 * @fix Rename the file and correct its heading and the Depends that name it.
 *
 * @example
 * ```markdown T-009.md
 * # T-009: Keep users
 * ```
 * ```markdown T-010.md
 * # T-010: Add the login form
 * ```
 * ```markdown T-1000.md
 * # T-1000: Lock after five failures
 * ```
 *
 * @example
 * ```markdown T-009.md
 * # T-009: Keep users
 * ```
 * ```markdown T-010.md
 * # T-010: Add the login form
 * ```
 * ```markdown T-11.md
 * # T-11: Lock after five failures
 * ```
 * ```text
 * docs/tasks/T-11.md:1:1 warning id-width T-11 would be T-011 among the others
 * ```
 */
export const idWidth: Rule = {
  name: 'id-width',
  severity: 'warning',
  start:
    ({ idWidth }) =>
    (task) => {
      const usual = idWidth === null ? task.id : idOf(task.number, idWidth)
      if (task.id === usual) return []
      return [{ span: headingSpan(task), message: `${task.id} would be ${usual} among the others` }]
    },
}
