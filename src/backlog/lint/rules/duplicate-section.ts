import { placesIn } from '../../../base/places.ts'
import type { Section } from '../../model.ts'
import { titleSpan } from '../place.ts'
import type { Rule } from '../rule.ts'

/**
 * A section that ralph knows occurs twice. ralph may read or edit another of the two than a person expects.
 *
 * @fix Join the two into one section.
 *
 * @example
 * ```markdown T-001.md
 * # T-001: Add the login form
 *
 * - **Status**: TODO
 *
 * ## Notes
 * One.
 *
 * ## Notes
 * Another.
 * ```
 *
 * @example
 * ```markdown T-001.md
 * # T-001: Add the login form
 *
 * - **Status**: TODO
 *
 * ## Hints
 * Reuse the input.
 *
 * ## Hints
 * Mind the tab order.
 * ```
 * ```text
 * docs/tasks/T-001.md:8:1 warning duplicate-section Hints is already in line 5
 * ```
 */
export const duplicateSection: Rule = {
  name: 'duplicate-section',
  severity: 'warning',
  start: () => (task) => {
    const first = new Map<string, Section>()
    const placeOf = placesIn(task.source)
    return task.sections.flatMap((section) => {
      if (section.name === null) return []
      const earlier = first.get(section.name)
      if (!earlier) first.set(section.name, section)
      if (!earlier) return []
      const { line } = placeOf(earlier.span.start)
      return [{ span: titleSpan(section), message: `${section.name} is already in line ${line}` }]
    })
  },
}
