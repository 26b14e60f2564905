import { idOf } from '../../values.ts'
import type { Rule } from '../rule.ts'

/**
 * A dependency is spelled differently from the file's name: with other digits, or in another case. ralph finds the task, but a
 * search for its id does not find the dependency.
 *
 * @fix `ralph lint --fix` writes it like the file's name.
 *
 * @example
 * ```markdown T-001.md
 * # T-001: Keep users
 *
 * - **Status**: DONE
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
 * - **Status**: DONE
 * ```
 * ```markdown T-002.md
 * # T-002: Add the login form
 *
 * - **Status**: TODO
 * - **Depends**: t-1 (merged)
 * ```
 * ```text
 * docs/tasks/T-002.md:4:16 warning dependency-spelling t-1 is T-001 by the name of its file
 * ```
 * ```markdown T-002.md fixed
 * # T-002: Add the login form
 *
 * - **Status**: TODO
 * - **Depends**: T-001 (merged)
 * ```
 */
export const dependencySpelling: Rule = {
  name: 'dependency-spelling',
  severity: 'warning',
  start:
    ({ claims, idWidth }) =>
    (task) =>
      task.depends.flatMap(({ number, span }) => {
        const meant = claims.first[number]
        const written = task.source.slice(span.start, span.end)
        if (BEGINS_RANGE.test(task.source.slice(span.end, span.end + LONGEST_MARK))) return []
        if (!meant || claims.rivals.has(number) || written === meant.id || !names(written, number)) return []
        // If a file's name has an unusual width, the name is wrong.
        if (idWidth !== null && meant.id !== idOf(meant.number, idWidth)) return []
        const message = `${written} is ${meant.id} by the name of its file`
        return [{ span, message, fix: { ...span, text: meant.id } }]
      }),
}

// A fix of one end of a range would be incomplete.
const BEGINS_RANGE = /^\]?\s*(?:–|\.\.+|…|to\s)\s*\[?T-/i
const LONGEST_MARK = 16

/** Whether a text is only an id, and of that number: text in a range may stand for other tasks too. */
function names(text: string, number: number): boolean {
  return /^T-\d+$/i.test(text) && Number(text.slice('T-'.length)) === number
}
