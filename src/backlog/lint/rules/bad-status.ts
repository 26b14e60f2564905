import { problemRule } from '../rule.ts'
import type { Rule } from '../rule.ts'

/**
 * Status is neither one of the three words, nor a word that the configuration names for one of them.
 *
 * @fix Write `TODO`, `DONE` or `BLOCKED`, or name the team's word under `aliases.statuses` in the config.
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
 * - **Status**: In review
 * ```
 * ```text
 * docs/tasks/T-001.md:3:15 error bad-status Status "In review" is none of these; expected one of TODO, DONE, BLOCKED
 * ```
 */
export const badStatus: Rule = problemRule('bad-status')
