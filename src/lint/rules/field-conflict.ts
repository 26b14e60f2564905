import { problemRule } from '../rule.ts'
import type { Rule } from '../rule.ts'

/**
 * A field stands in two places that do not say the same.
 *
 * @fix Keep the one that is right.
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
