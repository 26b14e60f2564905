import { problemRule, type Rule } from '../rule.ts'

/**
 * `ralph new` or `ralph init` made the file, and nobody has filled it in. An agent would invent a task, so this one is not
 * eligible.
 *
 * @fix Write the Description, and the Acceptance Criteria.
 *
 * @example
 * ```markdown T-001.md
 * # T-001: Add the login form
 *
 * - **Status**: TODO
 *
 * ## Description
 *
 * Email and password.
 * ```
 *
 * @example
 * ```markdown T-001.md
 * # T-001: Add the login form
 *
 * - **Status**: TODO
 *
 * ## Description
 *
 * <!-- What to implement and why. -->
 * ```
 * ```text
 * docs/tasks/T-001.md:5:1 warning unfilled-template nobody has written yet what is to be done: fill in the Description
 * ```
 */
export const unfilledTemplate: Rule = { ...problemRule('unfilled-template'), severity: 'warning' }
