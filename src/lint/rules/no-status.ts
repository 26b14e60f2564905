import { problemRule } from '../rule.ts'
import type { Rule } from '../rule.ts'

/**
 * A task has no Status between its heading and its first section, so nobody can tell whether it is to be done.
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
 */
export const noStatus: Rule = problemRule('no-status')
