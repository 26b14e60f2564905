import { problemRule } from '../rule.ts'
import type { Rule } from '../rule.ts'

/**
 * A field occurs in two places, with different values.
 *
 * @fix Keep the right one.
 *
 * @example
 * ```markdown T-001.md
 * ---
 * status: todo
 * ---
 * # T-001: Add the login form
 *
 * - **Status**: TODO
 * ```
 *
 * @example
 * ```markdown T-001.md
 * # T-001: Add the login form
 *
 * - **Status**: TODO
 * - **Complexity**: Light
 * - **Complexity**: Heavy
 * ```
 * ```text
 * docs/tasks/T-001.md:5:19 error field-conflict Complexity is given twice with different values: "Light" and "Heavy"
 * ```
 */
export const fieldConflict: Rule = problemRule('field-conflict')
