import type { Cycle } from '../../select/cycles.ts'
import type { Task, TaskHead } from '../../model.ts'
import { valueSpan } from '../place.ts'
import type { Rule } from '../rule.ts'

/**
 * Tasks wait for each other, so none of them can ever be done. A cycle is reported once, at its lowest task.
 *
 * @fix Decide which of them comes first, and remove the others from its Depends.
 *
 * @example
 * ```markdown T-001.md
 * # T-001: Keep users
 *
 * - **Status**: TODO
 * ```
 * ```markdown T-002.md
 * # T-002: Add the login form
 *
 * - **Status**: TODO
 * - **Depends**: T-001
 * ```
 *
 * @example
 * ```markdown T-001.md
 * # T-001: Keep users
 *
 * - **Status**: TODO
 * - **Depends**: T-003
 * ```
 * ```markdown T-002.md
 * # T-002: Add the login form
 *
 * - **Status**: TODO
 * - **Depends**: T-001
 * ```
 * ```markdown T-003.md
 * # T-003: Lock after five failures
 *
 * - **Status**: TODO
 * - **Depends**: T-002
 * ```
 * ```text
 * docs/tasks/T-001.md:4:16 error cycle T-001 → T-003 → T-002 → T-001: each waits for the next
 * ```
 *
 * @example
 * Rings that share a task are one cycle.
 * ```markdown T-001.md
 * # T-001: Keep users
 *
 * - **Status**: TODO
 * - **Depends**: T-002
 * ```
 * ```markdown T-002.md
 * # T-002: Add the login form
 *
 * - **Status**: TODO
 * - **Depends**: T-001, T-003
 * ```
 * ```markdown T-003.md
 * # T-003: Lock after five failures
 *
 * - **Status**: TODO
 * - **Depends**: T-002
 * ```
 * ```text
 * docs/tasks/T-001.md:4:16 error cycle T-001, T-002, T-003 wait for each other
 * ```
 */
export const cycle: Rule = {
  name: 'cycle',
  severity: 'error',
  start: ({ cycles }) => {
    const rings = cycles.filter(({ tasks }) => tasks.length > 1)
    const cycleAt = new Map(rings.map((ring) => [ring.tasks[0]!.file, ring]))
    return (task) => {
      const found = cycleAt.get(task.file)
      return found ? [{ span: needSpan(task, found), message: describe(found) }] : []
    }
  },
}

/** The dependency that leads into the cycle. */
function needSpan(task: Task, { tasks }: Cycle<TaskHead>): { start: number; end: number } {
  const need = task.depends.find((dependency) => dependency.number === tasks[1]!.number)
  return need?.span ?? valueSpan(task, 'Depends')
}

function describe({ ids, tasks }: Cycle<TaskHead>): string {
  const shown = ids.length > MOST_SHOWN ? [...ids.slice(0, MOST_SHOWN), `… (${ids.length} tasks)`] : ids
  return isRing(tasks)
    ? `${[...shown, ids[0]].join(' → ')}: each waits for the next`
    : `${shown.join(', ')} wait for each other`
}

/** Whether each one needs the next, and the last one the first. */
function isRing(tasks: readonly TaskHead[]): boolean {
  return tasks.every((task, index) => {
    const next = tasks[(index + 1) % tasks.length]!
    return task.needs.includes(next.number)
  })
}

const MOST_SHOWN = 20
