import type { Rule } from '../rule.ts'

/**
 * A task depends on a task that does not exist, so it waits for ever.
 *
 * @fix Correct the id, add the missing task, or remove the id from Depends.
 *
 * @example
 * ```markdown T-001.md
 * # T-001: Keep users
 *
 * - **Status**: DONE
 * ```
 * ```markdown T-002.md
 * # T-002: Add the login form
 *
 * - **Status**: TODO
 * - **Depends**: T-001
 * ```
 *
 * @example
 * ```markdown T-002.md
 * # T-002: Add the login form
 *
 * - **Status**: TODO
 * - **Depends**: T-099
 * ```
 * ```text
 * docs/tasks/T-002.md:4:16 error missing-dependency T-099 does not exist
 * ```
 */
export const missingDependency: Rule = {
  name: 'missing-dependency',
  severity: 'error',
  start:
    ({ claims }) =>
    (task) => {
      const missing = task.depends.filter((dependency) => !claims.first[dependency.number])
      return missing.map(({ id, span }) => ({ span, message: `${id} does not exist` }))
    },
}
