import type { Rule } from '../rule.ts'

/**
 * A task depends on itself, so it waits for ever.
 *
 * @fix Remove the task's own id from its Depends.
 *
 * @example
 * ```markdown T-001.md
 * # T-001: Keep users
 *
 * - **Status**: TODO
 * - **Depends**: none
 * ```
 *
 * @example
 * ```markdown T-001.md
 * # T-001: Keep users
 *
 * - **Status**: TODO
 * - **Depends**: T-001
 * ```
 * ```text
 * docs/tasks/T-001.md:4:16 error self-dependency T-001 depends on itself
 * ```
 */
export const selfDependency: Rule = {
  name: 'self-dependency',
  severity: 'error',
  start: () => (task) =>
    task.depends
      .filter((dependency) => dependency.number === task.number)
      .map(({ span }) => ({ span, message: `${task.id} depends on itself` })),
}
