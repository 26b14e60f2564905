import type { Task } from '../../task/model.ts'
import { headingSpan } from '../place.ts'
import type { Rule } from '../rule.ts'

/**
 * An id has fewer, or more, leading zeros than the others, so that files are not listed in the order of their numbers.
 *
 * @fix Rename the file and correct its heading and the Depends that mean it.
 *
 * @example
 * ```markdown T-009.md
 * # T-009: Keep users
 * ```
 * ```markdown T-010.md
 * # T-010: Add the login form
 * ```
 * ```markdown T-1000.md
 * # T-1000: Lock after five failures
 * ```
 *
 * @example
 * ```markdown T-009.md
 * # T-009: Keep users
 * ```
 * ```markdown T-010.md
 * # T-010: Add the login form
 * ```
 * ```markdown T-11.md
 * # T-11: Lock after five failures
 * ```
 * ```text
 * docs/tasks/T-11.md:1:1 warning id-width T-11 would be T-011 among the others
 * ```
 */
export const idWidth: Rule = {
  name: 'id-width',
  severity: 'warning',
  start: ({ tasks }) => {
    const width = usualWidth(tasks)
    return (task) => {
      if (width === null || fits(task, width)) return []
      const usual = `T-${String(task.number).padStart(width, '0')}`
      return [{ span: headingSpan(task), message: `${task.id} would be ${usual} among the others` }]
    }
  },
}

/** The number of digits that most ids are padded to; null where as many speak for another. */
function usualWidth(tasks: readonly Task[]): number | null {
  const widths = new Set(tasks.map(digitsOf))
  const counts = [...widths].map((width) => ({
    width,
    count: tasks.filter((task) => fits(task, width)).length,
  }))
  const most = Math.max(...counts.map(({ count }) => count))
  const usual = counts.filter(({ count }) => count === most)
  return usual.length === 1 ? usual[0]!.width : null
}

function digitsOf(task: Task): number {
  return task.id.length - 'T-'.length
}

function fits(task: Task, width: number): boolean {
  return task.id.slice('T-'.length) === String(task.number).padStart(width, '0')
}
