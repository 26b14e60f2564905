import { whyOutside } from '../../../base/paths.ts'
import type { Task } from '../../model.ts'
import { quote, spansInValue } from '../place.ts'
import type { Finding, LintedBacklog, Rule } from '../rule.ts'

/**
 * A path under Touches or Context is absolute, or leads out of the repository, by itself or through a symlink. No prompt ever
 * contains such a file.
 *
 * @fix Name a file of this repository, relative to its root.
 *
 * @example
 * ```markdown T-001.md
 * # T-001: Add the login form
 *
 * - **Status**: TODO
 * - **Touches**: `src/login.ts`, `src/../test/login.ts`
 * ```
 *
 * @example
 * ```markdown T-001.md
 * # T-001: Add the login form
 *
 * - **Status**: TODO
 * - **Touches**: `src/login.ts`, `../secrets.env`
 * - **Context**: `/etc/passwd`, `src/../../other`
 * ```
 * ```text
 * docs/tasks/T-001.md:4:33 error outside-path "../secrets.env" is outside the repository
 * docs/tasks/T-001.md:5:17 error outside-path "/etc/passwd" is not relative to the root
 * docs/tasks/T-001.md:5:32 error outside-path "src/../../other" is outside the repository
 * ```
 */
export const outsidePath: Rule = {
  name: 'outside-path',
  severity: 'error',
  start: (backlog) => (task) => [
    ...findingsIn(task, 'Touches', task.touches, backlog),
    ...findingsIn(task, 'Context', task.context, backlog),
  ],
}

function findingsIn(
  task: Task,
  field: 'Touches' | 'Context',
  paths: readonly string[],
  { context }: LintedBacklog,
): Finding[] {
  const straying = (path: string): string | null => whyOutside(path, context.isOutside)
  const wrong = paths.filter((path) => straying(path) !== null)
  const spans = spansInValue(task, field, wrong)
  return wrong.map((path, index) => ({ span: spans[index]!, message: `${quote(path)} ${straying(path)}` }))
}
