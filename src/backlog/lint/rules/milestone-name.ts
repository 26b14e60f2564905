import { quote, valueSpan } from '../place.ts'
import type { LintedTask, Rule } from '../rule.ts'

/**
 * One milestone number has two names, so its tasks are shown as two groups. The name in the lowest task is taken for the
 * right one.
 *
 * @fix Write the same milestone in all of its tasks.
 *
 * @example
 * ```markdown T-001.md
 * # T-001: Keep users
 *
 * - **Status**: TODO
 * - **Milestone**: 1 — Authentication
 * ```
 * ```markdown T-002.md
 * # T-002: Take payments
 *
 * - **Status**: TODO
 * - **Milestone**: 2 — Shop
 * ```
 *
 * @example
 * ```markdown T-001.md
 * # T-001: Keep users
 *
 * - **Status**: TODO
 * - **Milestone**: 1 — Authentication
 * ```
 * ```markdown T-002.md
 * # T-002: Add the login form
 *
 * - **Status**: TODO
 * - **Milestone**: 1 — Login
 * ```
 * ```text
 * docs/tasks/T-002.md:4:18 warning milestone-name Milestone "1 — Login" is "1 — Authentication" in T-001
 * ```
 */
export const milestoneName: Rule = {
  name: 'milestone-name',
  severity: 'warning',
  start: ({ tasks }) => {
    const first = new Map<string, LintedTask>()
    for (const task of tasks) {
      const number = numberIn(task)
      if (number !== undefined && !first.has(number)) first.set(number, task)
    }
    return (task) => {
      const number = numberIn(task)
      const usual = number === undefined ? undefined : first.get(number)
      if (!usual || usual.milestone === task.milestone) return []
      const message = `Milestone ${quote(task.milestone ?? '')} is ${quote(usual.milestone ?? '')} in ${usual.id}`
      return [{ span: valueSpan(task, 'Milestone'), message }]
    }
  },
}

function numberIn({ milestone }: LintedTask): string | undefined {
  return /^\d+(?:\.\d+)*/.exec(milestone ?? '')?.[0]
}
