import { fieldOf } from '../../model.ts'
import { isNone } from '../../values.ts'
import { quote } from '../place.ts'
import type { Rule } from '../rule.ts'

/**
 * Timeout is not a duration, so the tier's limit applies instead of the task's own.
 *
 * @fix Write a duration such as `20m`, `90s` or `1h 30m`, or remove the field to use the tier's limit.
 *
 * @example
 * ```markdown T-001.md
 * # T-001: Add the login form
 *
 * - **Status**: TODO
 * - **Timeout**: 1h 30m
 * ```
 *
 * @example
 * ```markdown T-001.md
 * # T-001: Add the login form
 *
 * - **Status**: TODO
 * - **Timeout**: until it is done
 * ```
 * ```text
 * docs/tasks/T-001.md:4:16 error bad-timeout Timeout "until it is done" is not a duration such as 20m
 * ```
 */
export const badTimeout: Rule = {
  name: 'bad-timeout',
  severity: 'error',
  start: () => (task) => {
    const field = fieldOf(task, 'Timeout')
    if (!field || task.timeoutSeconds !== null || isNone(field.value)) return []
    return [{ span: field.valueSpan, message: `Timeout ${quote(field.value)} is not a duration such as 20m` }]
  },
}
