import { problemRule } from '../rule.ts'
import type { Rule } from '../rule.ts'

/**
 * A task file cannot be read: it is not UTF-8, or is nested too deeply. Only the id of the task is known, and the tasks that
 * depend on it wait.
 *
 * @fix Make it a text file in UTF-8, or remove it from the task folder.
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
 * - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - deep
 * ```
 * ```text
 * docs/tasks/T-001.md:1:1 error unreadable lists or quotes are nested more than 60 deep
 * ```
 */
export const unreadable: Rule = problemRule('unreadable')
