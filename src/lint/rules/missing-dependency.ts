import type { Rule } from '../rule.ts'

/**
 * A task depends on one that does not exist. It waits for ever.
 *
 * @fix Correct the id, add the task that is meant, or take the id out of Depends.
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
