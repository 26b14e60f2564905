import type { Rule } from '../rule.ts'
import { unknownName } from '../unknown-name.ts'

/**
 * The task names a discipline that has no file in `docs/disciplines/`, so the prompt would not say how to work.
 *
 * @fix Correct the name, or write `docs/disciplines/<name>.md`.
 *
 * @example
 * ```json context
 * { "disciplines": ["backend", "frontend"] }
 * ```
 * ```markdown T-001.md
 * # T-001: Add the login form
 *
 * - **Status**: TODO
 * - **Discipline**: frontend
 * ```
 *
 * @example
 * ```json context
 * { "disciplines": ["backend", "frontend"] }
 * ```
 * ```markdown T-001.md
 * # T-001: Add the login form
 *
 * - **Status**: TODO
 * - **Discipline**: fronted
 * ```
 * ```text
 * docs/tasks/T-001.md:4:19 error unknown-discipline Discipline "fronted" has no file in docs/disciplines (did you mean frontend?)
 * ```
 */
export const unknownDiscipline: Rule = {
  name: 'unknown-discipline',
  severity: 'error',
  start: ({ context }) => unknownName('Discipline', 'docs/disciplines', context.disciplines),
}
