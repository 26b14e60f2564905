import { headingSpan } from '../place.ts'
import { standsAsTask, type Rule } from '../rule.ts'

/**
 * The heading holds an id and nothing else. `ralph next` shows the title, and the subject of the commit contains it.
 *
 * @fix Say in a few words what is to be done: `# T-001: Add the login form`.
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
 * # T-001:
 *
 * - **Status**: TODO
 * ```
 * ```text
 * docs/tasks/T-001.md:1:1 error empty-title T-001 has no title
 * ```
 */
export const emptyTitle: Rule = {
  name: 'empty-title',
  severity: 'error',
  start: () => (task) => {
    if (task.title !== '' || !standsAsTask(task)) return []
    return [{ span: headingSpan(task), message: `${task.id} has no title` }]
  },
}
