import { blankComments } from '../../markdown/inline.ts'
import { type Field, STATUSES, type Task } from '../../model.ts'
import { quote } from '../place.ts'
import type { Finding, Rule } from '../rule.ts'

/**
 * Status is in the wrong case. ralph reads it, but a search for `TODO` does not find it.
 *
 * @fix `ralph lint --fix` writes it in capitals.
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
 * - **Status**: `Todo`
 * ```
 * ```text
 * docs/tasks/T-001.md:3:16 warning status-case Status "Todo" is written TODO
 * ```
 * ```markdown T-001.md fixed
 * # T-001: Add the login form
 *
 * - **Status**: `TODO`
 * ```
 */
export const statusCase: Rule = {
  name: 'status-case',
  severity: 'warning',
  start: ({ context }) => {
    const own = new Set(Object.values(context.aliases?.statuses ?? {}).flat())
    const check = (task: Task, field: Field): readonly Finding[] => {
      const status = STATUSES.find((word) => word === field.value.toUpperCase())
      if (!status || field.value === status || own.has(field.value)) return []
      const raw = task.source.slice(field.valueSpan.start, field.valueSpan.end)
      const at = blankComments(raw).indexOf(field.value)
      if (at < 0) return []
      const start = field.valueSpan.start + at
      const span = { start, end: start + status.length }
      return [
        {
          span,
          message: `Status ${quote(field.value)} is written ${status}`,
          fix: { ...span, text: status },
        },
      ]
    }
    return (task) =>
      task.fields.filter(({ name }) => name === 'Status').flatMap((field) => check(task, field))
  },
}
