import type { ProblemKind } from '../model.ts'
import type { Rule } from './rule.ts'
import { DEPENDENCY_RULES } from './rules/dependencies.ts'
import { FIELD_RULES } from './rules/fields.ts'
import { HEADING_RULES } from './rules/headings.ts'
import { NAME_RULES } from './rules/names.ts'
import { SECTION_RULES } from './rules/sections.ts'

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

/** The rule for a problem that the reader has found. */
function problemRule(kind: ProblemKind, severity: Rule['severity'] = 'error'): Rule {
  return {
    name: kind,
    severity,
    start: () => (task) => task.problems.filter((problem) => problem.kind === kind),
  }
}

/** Every rule, by name. Each has a page in `docs/lint/`, whose examples are its tests. */
export const RULES: readonly Rule[] = [
  ...PROBLEMS.map((kind) => problemRule(kind)),
  problemRule('unfilled-template', 'warning'),
  ...DEPENDENCY_RULES,
  ...FIELD_RULES,
  ...HEADING_RULES,
  ...NAME_RULES,
  ...SECTION_RULES,
].toSorted((a, b) => (a.name < b.name ? -1 : 1))
