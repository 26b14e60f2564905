import type { Severity, Span } from '../../base/diagnostic.ts'
import type { Splice } from '../markdown/splice.ts'
import type { Claims } from '../select/claims.ts'
import type { Cycle } from '../select/cycles.ts'
import type { TaskIds } from '../ids.ts'
import type { Facts, ProblemKind, Status, Task, TaskName } from '../model.ts'
import type { Aliases } from '../vocabulary.ts'

/** One kind of problem of a task. Its page in `docs/lint/` describes it and the fix, with tested examples. */
export interface Rule {
  readonly severity: Severity
  readonly check: Check
}

type Check = (task: Task, backlog: LintedBacklog) => readonly Finding[]

export function error(check: Check): Rule {
  return { severity: 'error', check }
}

export function warning(check: Check): Rule {
  return { severity: 'warning', check }
}

/** Finds a problem that the reader of task files has found: each kind has a rule of the same name. */
export function problem(kind: ProblemKind): (task: Task) => readonly Finding[] {
  return (task) => task.problems.filter((found) => found.kind === kind)
}

/** What a rule may know of the other tasks. */
export type LintedTask = Facts<'milestone'>

/** What a rule may know besides the task that it checks. */
interface LintedBacklog {
  readonly claims: Claims<LintedTask>
  readonly cycles: readonly Cycle<LintedTask>[]
  /** The first task of each milestone, by its number. */
  readonly milestones: ReadonlyMap<string, LintedTask>
  /** The id of a task as the others of its pattern are written. */
  readonly usualId: (task: TaskName) => string
  readonly context: LintContext
}

/** The number in a task's milestone; empty if it has none. */
export function milestoneNumber({ milestone }: LintedTask): string {
  return /^\d+(?:\.\d+)*/.exec(milestone ?? '')?.[0] ?? ''
}

/** A problem that a rule found, and its place. */
export interface Finding {
  readonly span: Span
  readonly message: string
  /** Only if there is one right fix. */
  readonly fix?: Splice
}

/** Whether a file can be read as a task. For one that cannot, other missing things are reported after that is fixed. */
export function standsAsTask({ source, problems }: Task): boolean {
  return source !== '' && problems.every(({ kind }) => !PREVENTS.has(kind))
}

const PREVENTS: ReadonlySet<ProblemKind> = new Set([
  'unreadable',
  'bad-frontmatter',
  'no-heading',
  'no-status',
  'unfilled-template',
])

/** What the rules of a backlog need from outside; absent parts are not checked. */
export interface LintContext {
  /** The agents that ralph knows, by name. */
  readonly agents?: readonly string[]
  /** The names of files in `docs/disciplines/`. */
  readonly disciplines?: readonly string[]
  /** The names of files in `docs/features/`. */
  readonly features?: readonly string[]
  /** Whether a path, relative to the root and with symlinks resolved, is outside the repository; by default its text decides. */
  readonly isOutside?: (path: string) => boolean
  /** The status of tasks in their synced origins, by path and key. */
  readonly origins?: Readonly<Record<string, Readonly<Record<string, Status>>>>
  /** How the team writes ids. */
  readonly ids?: TaskIds
  /** The team's own words, which are never misspelled. */
  readonly aliases?: Aliases
}
