/** The library: what ralph knows of a backlog, for other programs. Nothing here prints, and nothing ends the process. */
export type { Diagnostic, Severity, Span } from './base/diagnostic.ts'
export { UserError } from './base/errors.ts'
export type { Config } from './project/config/defaults.ts'
export { loadConfig } from './project/config/load.ts'
export { findRoot } from './project/root.ts'
export { detectGates } from './gates/detect.ts'
export type * from './events/event.ts'
export type { Denial } from './events/denial.ts'
export type { Gate, GateResult, Verdict } from './events/gate.ts'
export type { Interference } from './events/interference.ts'
export type { OutcomeKind } from './events/outcome.ts'
export type { TaskJson } from './events/task.ts'
export type { Usage } from './events/usage.ts'
export type { LintContext } from './lint/rule.ts'
export { lint } from './lint/lint.ts'
export type { Cycle } from './select/cycles.ts'
export {
  type Reason,
  select,
  type Selection,
  type SelectionOutcome,
  selectNext,
  type TaskState,
  unblocks,
} from './select/selection.ts'
export { DEFAULT_TIERS, type TierChoice, tierOf, type TierTable } from './select/tier.ts'
export type {
  Dependency,
  Field,
  FieldName,
  Problem,
  Product,
  Section,
  SectionName,
  Status,
  Task,
  TaskHead,
  Tier,
} from './task/model.ts'
export { parseTask, type TaskFile } from './task/parse.ts'
export { type Backlog, type BacklogOptions, readBacklog, readHeads, readTask } from './task/read.ts'
export { type Aliases, taskVocabulary, type TaskVocabulary } from './task/vocabulary.ts'
