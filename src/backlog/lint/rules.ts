import { error, problem, type Rule, warning } from './rule.ts'
import { DEPENDENCY_RULES } from './rules/dependencies.ts'
import { FIELD_RULES } from './rules/fields.ts'
import { ID_RULES, NAME_RULES } from './rules/names.ts'
import { STATUS_RULES } from './rules/status.ts'
import { TEXT_RULES } from './rules/text.ts'

/** A rule and its name. */
export interface NamedRule extends Rule {
  readonly name: string
}

/** The problems that the reader of task files finds itself. */
const PROBLEMS = [
  'bad-depends',
  'bad-frontmatter',
  'bad-status',
  'field-conflict',
  'heading-id',
  'no-heading',
  'unreadable',
] as const

/** Every rule, by name. Each has a page in `docs/lint/`, whose examples are its tests. */
export const RULES: readonly NamedRule[] = Object.entries<Rule>({
  ...Object.fromEntries(PROBLEMS.map((kind) => [kind, error(problem(kind))])),
  'unfilled-template': warning(problem('unfilled-template')),
  ...DEPENDENCY_RULES,
  ...FIELD_RULES,
  ...ID_RULES,
  ...NAME_RULES,
  ...STATUS_RULES,
  ...TEXT_RULES,
})
  .map(([name, rule]) => ({ name, ...rule }))
  .sort((a, b) => (a.name < b.name ? -1 : 1))
