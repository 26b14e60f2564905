import { problemRule } from '../rule.ts'
import type { Rule } from '../rule.ts'

/**
 * Depends contains text that is not a task id. It may mean a task that must be done first, so this task waits.
 *
 * @fix Write ids, as in `T-001, T-003`, a range, as in `T-001–T-003`, or `none`.
 *
 * @example
 * ```markdown T-003.md
 * # T-003: Add the login form
 *
 * - **Status**: TODO
 * - **Depends**: T-001–T-002 (merged together)
 * ```
 *
 * @example
 * ```markdown T-003.md
 * # T-003: Add the login form
 *
 * - **Status**: TODO
 * - **Depends**: T-001, the user table
 * ```
 * ```text
 * docs/tasks/T-003.md:4:23 error bad-depends Depends: "the" is not a task id; expected ids such as T-001, T-003, a range T-001–T-003, or none
 * ```
 */
export const badDepends: Rule = problemRule('bad-depends')
