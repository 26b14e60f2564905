import { quote, valueSpan } from '../place.ts'
import type { Rule } from '../rule.ts'

/**
 * A milestone is written `N — Name`. Without its number, milestones cannot be put in order; without its name, nobody
 * knows what the number stands for.
 *
 * @fix Write the number, a dash and the name: `1 — Authentication`.
 *
 * @example
 * ```markdown T-001.md
 * # T-001: Add the login form
 *
 * - **Status**: TODO
 * - **Milestone**: 1 — Authentication
 * ```
 *
 * @example
 * ```markdown T-001.md
 * # T-001: Add the login form
 *
 * - **Status**: TODO
 * - **Milestone**: Authentication
 * ```
 * ```text
 * docs/tasks/T-001.md:4:18 warning bad-milestone Milestone "Authentication" is not a number and a name, such as 1 — Authentication
 * ```
 */
export const badMilestone: Rule = {
  name: 'bad-milestone',
  severity: 'warning',
  start: () => (task) => {
    if (task.milestone === null || NUMBER_AND_NAME.test(task.milestone)) return []
    const message = `Milestone ${quote(task.milestone)} is not a number and a name, such as 1 — Authentication`
    return [{ span: valueSpan(task, 'Milestone'), message }]
  },
}

const NUMBER_AND_NAME = /^\d+(?:\.\d+)*(?:\s*[—–:.·-]\s*|\s+)\S/
