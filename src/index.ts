/** The library: what the commands can, for other programs. Nothing here prints, and nothing ends the process. */
export type { Diagnostic, Severity, Span, TextEdit } from './base/diagnostic.ts'
export { UserError } from './base/errors.ts'
export type { Config } from './config/defaults.ts'
export { loadConfig } from './config/load.ts'
export { findRoot } from './config/root.ts'
export { detectGates } from './config/detect-gates.ts'
export type * from './engine/events/event.ts'
export type { Denial } from './base/nouns.ts'
export type { Gate, GateResult, Verdict } from './base/nouns.ts'
export type { Interference } from './engine/events/event.ts'
export type { OutcomeKind } from './base/names.ts'
export type { TaskJson } from './backlog/json.ts'
export type { Usage } from './base/nouns.ts'
export type { KeptAttempt } from './git/record.ts'
export type { BacklogDiff } from './history/backlog-diff.ts'
export type { CompletionRecord } from './history/completions.ts'
export type { Stats, StatsGroup } from './history/stats.ts'
export type { FieldChange, TaskChange } from './history/task-change.ts'
export type { Verification, VerifiedTask, VerifyState } from './history/verify.ts'
export {
  fixTasks,
  lintProject,
  openProject,
  promptFor,
  withStatus,
  type Completion,
  type History,
  openHistory,
  type Run,
  run,
} from './cli/library.ts'
export type { RunRequest } from './cli/setup/start-run.ts'
export type { LintContext } from './backlog/lint/rule.ts'
export { lint } from './backlog/lint/lint.ts'
export type { Place, Project } from './config/project.ts'
export { type Cycle, findCycles } from './backlog/select/cycles.ts'
export {
  type Reason,
  select,
  type Selection,
  type SelectionOutcome,
  selectNext,
  type TaskState,
  unblocks,
} from './backlog/select/selection.ts'
export { DEFAULT_TIERS, type TierChoice, tierOf, type TierTable } from './backlog/select/tier.ts'
export { taskJson } from './backlog/select/task-json.ts'
export { type NewTask, taskWriter } from './backlog/draft.ts'
export {
  answerTask,
  type Blockage,
  blockTask,
  completeTask,
  type Completion as CompletionEntry,
  retryTask,
} from './backlog/finish.ts'
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
} from './backlog/model.ts'
export { parseTask, type TaskFile } from './backlog/parse.ts'
export { type Backlog, type BacklogOptions, readBacklog, readHeads, readTask } from './backlog/read.ts'
export { type TaskFolders, taskFoldersOf } from './backlog/task-folders.ts'
export { type Aliases, taskVocabulary, type TaskVocabulary } from './backlog/vocabulary.ts'
export { dotOf, mermaidOf } from './screen/graph-text.ts'
