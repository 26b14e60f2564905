import type { ProblemKind } from '../task/model.ts'
import type { Rule } from './rule.ts'

/** A rule for what the reader of task files already found: each kind of problem has one, under its name. */
export function problemRule(kind: ProblemKind): Rule {
  return {
    name: kind,
    severity: 'error',
    start: () => (task) => task.problems.filter((problem) => problem.kind === kind),
  }
}
