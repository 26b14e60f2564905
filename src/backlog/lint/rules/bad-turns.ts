import { fieldOf } from '../../model.ts'
import { isNone } from '../../values.ts'
import { quote } from '../place.ts'
import type { Rule } from '../rule.ts'

/**
 * Turns is not a whole number above zero, so the tier's limit applies instead of the task's own.
 *
 * @fix Write a number such as `40`, or remove the field to use the tier's limit.
 *
 * @example
 * ```markdown T-001.md
 * # T-001: Add the login form
 *
 * - **Status**: TODO
 * - **Turns**: 40
 * ```
 *
 * @example
 * ```markdown T-001.md
 * # T-001: Add the login form
 *
 * - **Status**: TODO
 * - **Turns**: forty
 * ```
 * ```text
 * docs/tasks/T-001.md:4:14 error bad-turns Turns "forty" is not a number such as 40
 * ```
 */
export const badTurns: Rule = {
  name: 'bad-turns',
  severity: 'error',
  start: () => (task) => {
    const field = fieldOf(task, 'Turns')
    if (!field || task.turns !== null || isNone(field.value)) return []
    return [{ span: field.valueSpan, message: `Turns ${quote(field.value)} is not a number such as 40` }]
  },
}
