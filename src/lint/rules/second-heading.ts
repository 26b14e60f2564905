import type { Task } from '../../task/model.ts'
import type { Rule } from '../rule.ts'

/**
 * A file holds a second first-level heading. A file is one task: what stands under the second heading is in none of its sections.
 *
 * @fix Make the heading a section (`##`), or move what stands below it to a file of its own.
 *
 * @example
 * ```markdown T-001.md
 * # T-001: Add the login form
 *
 * - **Status**: TODO
 *
 * ## Description
 * ~~~sh
 * # not a heading
 * ~~~
 * ```
 *
 * @example
 * ```markdown T-001.md
 * # T-001: Add the login form
 *
 * - **Status**: TODO
 *
 * ## Description
 * Email and password.
 *
 * # T-002: Lock after five failures
 * ```
 * ```text
 * docs/tasks/T-001.md:8:1 warning second-heading a second first-level heading; a file is one task
 * ```
 */
export const secondHeading: Rule = {
  name: 'second-heading',
  severity: 'warning',
  start: () => (task) =>
    gapsAfterSections(task).map((start) => ({
      span: { start, end: start },
      message: 'a second first-level heading; a file is one task',
    })),
}

/** A section ends where the next one begins, or the file: where it ends before, a first-level heading stands. */
function gapsAfterSections(task: Task): number[] {
  const sections = task.sections.filter((section) => section.form === 'heading')
  const begins = new Set(sections.map((section) => section.span.start))
  const ends = sections.map((section) => section.span.end)
  return ends.filter((end) => end < task.source.length && !begins.has(end))
}
