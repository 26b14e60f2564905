import { problemRule } from '../rule.ts'
import type { Rule } from '../rule.ts'

/**
 * A task has no first-level heading, so it has no title.
 *
 * @fix Begin the file with its id and title: `# T-001: Add the login form`.
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
 * - **Status**: TODO
 *
 * ## Description
 * Email and password.
 * ```
 * ```text
 * docs/tasks/T-001.md:1:1 error no-heading no heading; expected "# T-001: …"
 * ```
 */
export const noHeading: Rule = problemRule('no-heading')
