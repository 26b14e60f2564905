import { readOrigin } from '../../origin.ts'
import { valueSpan } from '../place.ts'
import type { Rule } from '../rule.ts'

/**
 * The task's Status differs from the status in the backlog that it came from, and the two are kept in step (`bridges` in
 * the configuration).
 *
 * @fix Set the Status that is right in both; `ralph import` again takes over what has changed there, `ralph retry` and
 * `ralph complete` write it in both.
 *
 * @example
 * ```json context
 * { "origins": { "prd.json": { "US-001": "DONE" } } }
 * ```
 * ```markdown T-001.md
 * # T-001: Add the login form
 *
 * - **Status**: DONE
 * - **Origin**: `prd.json#US-001`
 * ```
 *
 * @example
 * ```json context
 * { "origins": { "prd.json": { "US-001": "DONE" } } }
 * ```
 * ```markdown T-001.md
 * # T-001: Add the login form
 *
 * - **Status**: TODO
 * - **Origin**: `prd.json#US-001`
 * ```
 * ```text
 * docs/tasks/T-001.md:4:15 warning origin-status the task is TODO, and US-001 in prd.json is DONE
 * ```
 *
 * @example
 * ```json context
 * { "origins": { "prd.json": {} } }
 * ```
 * ```markdown T-001.md
 * # T-001: Add the login form
 *
 * - **Status**: TODO
 * - **Origin**: `prd.json#US-001`
 * ```
 * ```text
 * docs/tasks/T-001.md:4:15 warning origin-status US-001 is not in prd.json any more
 * ```
 */
export const originStatus: Rule = {
  name: 'origin-status',
  severity: 'warning',
  start:
    ({ context: { origins = {} } }) =>
    (task) => {
      const origin = readOrigin(task.origin)
      if (!origin || !Object.hasOwn(origins, origin.path)) return []
      const statuses = origins[origin.path]!
      const there = Object.hasOwn(statuses, origin.key) ? statuses[origin.key] : undefined
      const span = valueSpan(task, 'Origin')
      if (there === undefined) return [{ span, message: `${origin.key} is not in ${origin.path} any more` }]
      // Most other tools have no status for blocked tasks.
      const isSame =
        (task.status === 'DONE') === (there === 'DONE') && !(task.status === 'TODO' && there === 'BLOCKED')
      if (isSame || task.status === null) return []
      return [
        { span, message: `the task is ${task.status}, and ${origin.key} in ${origin.path} is ${there}` },
      ]
    },
}
