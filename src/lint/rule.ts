import type { Severity, Span } from '../base/diagnostic.ts'
import type { Splice } from '../markdown/splice.ts'
import type { Claims } from '../select/claims.ts'
import type { Cycle } from '../select/cycles.ts'
import type { Facts, ProblemKind, Status, Task } from '../task/model.ts'
import type { Aliases } from '../task/vocabulary.ts'

/**
 * One thing that can be wrong with a task. It stands in a file of its own name, under a doc comment that holds what is
 * wrong (with examples that are tested) and how to put it right: `docs/lint/` is made from it.
 */
export interface Rule {
  readonly name: string
  readonly severity: Severity
  /** Looks at the backlog once, and gives what then looks at each task. */
  readonly start: (backlog: LintedBacklog) => (task: Task) => readonly Finding[]
}

/** What a rule may know of the other tasks. */
export type LintedTask = Facts<'milestone'>

/** What a rule may know beyond the task it looks at. */
export interface LintedBacklog {
  /** In number order. */
  readonly tasks: readonly LintedTask[]
  readonly claims: Claims<LintedTask>
  readonly cycles: readonly Cycle<LintedTask>[]
  /** How many digits an id has here, where that can be told. */
  readonly idWidth: number | null
  readonly context: LintContext
}

/** What a rule found, and where. */
export interface Finding {
  readonly span: Span
  readonly message: string
  /** Only where there is one right answer. */
  readonly fix?: Splice
}

/** Whether a file can be read as a task at all. What else one lacks that cannot is said once it can. */
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

/** A rule for what the reader of task files already found: each kind of problem has one, under its name. */
export function problemRule(kind: ProblemKind): Rule {
  return {
    name: kind,
    severity: 'error',
    start: () => (task) => task.problems.filter((problem) => problem.kind === kind),
  }
}

/** What stands around a backlog that its rules need to know. What is absent is not checked. */
export interface LintContext {
  /** The agents that ralph knows, by name. */
  readonly agents?: readonly string[]
  /** The names that have a file in `docs/disciplines/`. */
  readonly disciplines?: readonly string[]
  /** The names that have a file in `docs/features/`. */
  readonly features?: readonly string[]
  /** Whether a path, relative to the root and with symlinks resolved, is outside the repository; without it the path's text tells. */
  readonly isOutside?: (path: string) => boolean
  /** How tasks stand in the synced backlogs that they came from: by path, and by what names them there. */
  readonly origins?: Readonly<Record<string, Readonly<Record<string, Status>>>>
  /** The team's own words, which are right as they are written. */
  readonly aliases?: Aliases
}
