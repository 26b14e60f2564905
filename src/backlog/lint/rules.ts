import type { Rule } from './rule.ts'
import { badComplexity } from './rules/bad-complexity.ts'
import { badDepends } from './rules/bad-depends.ts'
import { badFrontmatter } from './rules/bad-frontmatter.ts'
import { badMilestone } from './rules/bad-milestone.ts'
import { badStatus } from './rules/bad-status.ts'
import { badTimeout } from './rules/bad-timeout.ts'
import { badTurns } from './rules/bad-turns.ts'
import { blockedWithoutReason } from './rules/blocked-without-reason.ts'
import { cycle } from './rules/cycle.ts'
import { dependencySpelling } from './rules/dependency-spelling.ts'
import { duplicateId } from './rules/duplicate-id.ts'
import { duplicateSection } from './rules/duplicate-section.ts'
import { emptyTitle } from './rules/empty-title.ts'
import { fieldConflict } from './rules/field-conflict.ts'
import { headingId } from './rules/heading-id.ts'
import { idWidth } from './rules/id-width.ts'
import { milestoneName } from './rules/milestone-name.ts'
import { missingCriteria } from './rules/missing-criteria.ts'
import { missingDependency } from './rules/missing-dependency.ts'
import { missingDescription } from './rules/missing-description.ts'
import { misspelledKey } from './rules/misspelled-key.ts'
import { misspelledSection } from './rules/misspelled-section.ts'
import { noHeading } from './rules/no-heading.ts'
import { noStatus } from './rules/no-status.ts'
import { originStatus } from './rules/origin-status.ts'
import { outsidePath } from './rules/outside-path.ts'
import { secondHeading } from './rules/second-heading.ts'
import { selfDependency } from './rules/self-dependency.ts'
import { statusCase } from './rules/status-case.ts'
import { unfilledTemplate } from './rules/unfilled-template.ts'
import { unknownAgent } from './rules/unknown-agent.ts'
import { unknownDiscipline } from './rules/unknown-discipline.ts'
import { unknownFeature } from './rules/unknown-feature.ts'
import { unreadable } from './rules/unreadable.ts'
import { waitingTodo } from './rules/waiting-todo.ts'

/** Every rule, by name. */
export const RULES: readonly Rule[] = [
  badComplexity,
  badDepends,
  badFrontmatter,
  badMilestone,
  badStatus,
  badTimeout,
  badTurns,
  blockedWithoutReason,
  cycle,
  dependencySpelling,
  duplicateId,
  duplicateSection,
  emptyTitle,
  fieldConflict,
  headingId,
  idWidth,
  milestoneName,
  missingCriteria,
  missingDependency,
  missingDescription,
  misspelledKey,
  misspelledSection,
  noHeading,
  noStatus,
  originStatus,
  outsidePath,
  secondHeading,
  selfDependency,
  statusCase,
  unfilledTemplate,
  unknownAgent,
  unknownDiscipline,
  unknownFeature,
  unreadable,
  waitingTodo,
]
