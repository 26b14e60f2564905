import { quote } from '../place.ts'
import { nearKey } from './misspelled-key.ts'
import type { Rule } from '../rule.ts'

/**
 * A task has no Status between its heading and its first section, so it is not known whether the task is to be done.
 *
 * @fix Add `- **Status**: TODO` below the heading.
 *
 * @example
 * ```markdown T-001.md
 * # T-001: Add the login form
 *
 * - **Status**: TODO
 * ```
 *
 * @example
 * ```markdown T-001.md
 * # T-001: Add the login form
 *
 * ## Description
 * - **Status**: TODO
 * ```
 * ```text
 * docs/tasks/T-001.md:1:1 error no-status no Status; expected a line "- **Status**: TODO" below the heading (one of TODO, DONE, BLOCKED)
 * ```
 *
 * @example
 * ```markdown T-001.md
 * # T-001: Add the login form
 *
 * - **Statsu**: TODO
 * ```
 * ```text
 * docs/tasks/T-001.md:3:1 error no-status no Status; "Statsu" is not a known field: did you mean Status?
 * ```
 */
export const noStatus: Rule = {
  name: 'no-status',
  severity: 'error',
  start: () => (task) => {
    const meant = task.fields.find((field) => nearKey(field) === 'Status')
    return task.problems
      .filter(({ kind }) => kind === 'no-status')
      .map((problem) =>
        meant
          ? {
              span: meant.span,
              message: `no Status; ${quote(meant.key)} is not a known field: did you mean Status?`,
            }
          : problem,
      )
  },
}
