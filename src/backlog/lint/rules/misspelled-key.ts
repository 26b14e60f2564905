import { FIELD_NAMES, type Field } from '../../model.ts'
import { misspelling } from '../../../base/spelling.ts'
import { quote } from '../place.ts'
import { FIELD_SYNONYMS } from '../../vocabulary.ts'
import type { Rule } from '../rule.ts'

/** The field that an unknown key is similar to; undefined if there is none. */
export function nearKey({ name, key }: Pick<Field, 'name' | 'key'>): string | undefined {
  return name === null ? misspelling(key, KNOWN) : undefined
}

const KNOWN = [...FIELD_NAMES, ...Object.values(FIELD_SYNONYMS).flat()]

/**
 * A field's key is almost a key that ralph knows. A team may have other fields of its own; ralph leaves them alone.
 *
 * @fix Correct the key. A field that is meant as it stands can be named further from the known one.
 *
 * @example
 * ```markdown T-001.md
 * # T-001: Add the login form
 *
 * - **Status**: TODO
 * - **Reviewer**: anyone
 * ```
 *
 * @example
 * ```markdown T-001.md
 * # T-001: Add the login form
 *
 * - **Status**: TODO
 * - **Complexty**: Heavy
 * ```
 * ```text
 * docs/tasks/T-001.md:4:1 warning misspelled-key "Complexty" is not a known field; did you mean Complexity?
 * ```
 */
export const misspelledKey: Rule = {
  name: 'misspelled-key',
  severity: 'warning',
  start: () => (task) =>
    task.fields.flatMap((field) => {
      const near = nearKey(field)
      // Without another Status, no-status is the error there.
      if (near === undefined || (near === 'Status' && task.status === null)) return []
      return [
        { span: field.span, message: `${quote(field.key)} is not a known field; did you mean ${near}?` },
      ]
    }),
}
