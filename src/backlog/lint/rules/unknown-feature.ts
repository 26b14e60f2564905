import type { Rule } from '../rule.ts'
import { unknownName } from '../unknown-name.ts'

/**
 * The task names a feature that has no file in `docs/features/`, so the prompt would not describe the feature.
 *
 * @fix Correct the name, or write `docs/features/<name>.md`.
 *
 * @example
 * ```json context
 * { "features": ["billing", "login"] }
 * ```
 * ```markdown T-001.md
 * # T-001: Add the login form
 *
 * - **Status**: TODO
 * - **Feature**: login
 * ```
 *
 * @example
 * ```json context
 * { "features": ["billing", "login"] }
 * ```
 * ```markdown T-001.md
 * # T-001: Add the login form
 *
 * - **Status**: TODO
 * - **Feature**: logn
 * ```
 * ```text
 * docs/tasks/T-001.md:4:16 error unknown-feature Feature "logn" has no file in docs/features (did you mean login?)
 * ```
 */
export const unknownFeature: Rule = {
  name: 'unknown-feature',
  severity: 'error',
  start: ({ context }) => unknownName('Feature', 'docs/features', context.features),
}
