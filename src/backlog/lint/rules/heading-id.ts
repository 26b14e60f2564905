import { problemRule } from '../rule.ts'
import type { Rule } from '../rule.ts'

/**
 * The heading has another id than the file's name. One of the two is wrong, and ralph cannot know which.
 *
 * @fix Give the heading the id of the file's name, or rename the file.
 *
 * @example
 * ```markdown T-001.md
 * # T-001: Add the login form
 *
 * - **Status**: TODO
 * ```
 *
 * @example
 * ```markdown T-002.md
 * # T-001: Add the login form
 *
 * - **Status**: TODO
 * ```
 * ```text
 * docs/tasks/T-002.md:1:1 error heading-id the heading says T-001, the file's name T-002
 * ```
 */
export const headingId: Rule = problemRule('heading-id')
