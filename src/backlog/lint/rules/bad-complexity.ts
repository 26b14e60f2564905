import { fieldOf, TIERS } from '../../model.ts'
import { isNone } from '../../values.ts'
import { quote, suggestion } from '../place.ts'
import type { Rule } from '../rule.ts'

/**
 * Complexity is not one of the three tiers. The task still runs, but with the tier that ralph detects, which its author
 * may not have meant.
 *
 * @fix Write `Light`, `Standard` or `Heavy`, or remove the field: then ralph detects the tier.
 *
 * @example
 * ```markdown T-001.md
 * # T-001: Add the login form
 *
 * - **Status**: TODO
 * - **Complexity**: Heavy
 * ```
 *
 * @example
 * ```markdown T-001.md
 * # T-001: Add the login form
 *
 * - **Status**: TODO
 * - **Complexity**: Heavvy
 * ```
 * ```text
 * docs/tasks/T-001.md:4:19 error bad-complexity Complexity "Heavvy" is none of Light, Standard, Heavy (did you mean Heavy?)
 * ```
 */
export const badComplexity: Rule = {
  name: 'bad-complexity',
  severity: 'error',
  start: () => (task) => {
    const field = fieldOf(task, 'Complexity')
    if (!field || task.complexity !== null || isNone(field.value)) return []
    const message = `Complexity ${quote(field.value)} is none of ${TIERS.join(', ')}${suggestion(field.value, TIERS)}`
    return [{ span: field.valueSpan, message }]
  },
}
