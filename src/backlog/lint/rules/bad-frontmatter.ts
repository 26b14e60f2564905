import { problemRule } from '../rule.ts'
import type { Rule } from '../rule.ts'

/**
 * The frontmatter is not valid YAML, so ralph cannot read its fields.
 *
 * @fix Correct the YAML, or write the fields below the heading.
 *
 * @example
 * ```markdown T-001.md
 * ---
 * status: TODO
 * ---
 * # T-001: Add the login form
 * ```
 *
 * @example
 * ```markdown T-001.md
 * ---
 * status: [TODO
 * ---
 * # T-001: Add the login form
 * ```
 * ```text
 * docs/tasks/T-001.md:3:1 error bad-frontmatter the frontmatter cannot be read: Flow sequence in block collection must be sufficiently indented and end with a ]
 * ```
 */
export const badFrontmatter: Rule = problemRule('bad-frontmatter')
