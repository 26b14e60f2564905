import type { Diagnostic } from '../../base/diagnostic.ts'
import { placesIn } from '../../base/places.ts'
import { claimsOf } from '../select/claims.ts'
import { findCycles } from '../select/cycles.ts'
import type { Task } from '../model.ts'
import { inOrder } from '../order.ts'
import { type Finding, type LintContext, type LintedTask, milestoneNumber } from './rule.ts'
import { type NamedRule, RULES } from './rules.ts'
import { usualIds } from './place.ts'

/** Checks a whole backlog: its problems, by file, line and column. */
export function lint(tasks: readonly Task[], context: LintContext = {}): Diagnostic[] {
  const check = startLint(tasks, context)
  return inOrder(tasks).flatMap(check).sort(byPlace)
}

/**
 * Prepares the check of a backlog, and returns the function that checks each of its tasks; the tasks need not be in
 * memory together.
 */
export function startLint(
  tasks: readonly LintedTask[],
  context: LintContext,
): (task: Task) => readonly Diagnostic[] {
  const find = startFinding(tasks, context)
  return (task) => diagnosticsOf(task, find(task))
}

/** The findings of each rule in a task. */
export type FoundDiagnostic = readonly { readonly rule: NamedRule; readonly finding: Finding }[]

/** Returns the function that runs the rules on a task: findings with fixes, before their places are computed. */
export function startFinding(
  tasks: readonly LintedTask[],
  context: LintContext,
): (task: Task) => FoundDiagnostic {
  const claims = claimsOf(tasks)
  const backlog = {
    claims,
    cycles: findCycles(claims.ordered),
    milestones: new Map(claims.ordered.toReversed().map((task) => [milestoneNumber(task), task])),
    usualId: usualIds(claims.ordered),
    context,
  }
  return (task) => RULES.flatMap((rule) => rule.check(task, backlog).map((finding) => ({ rule, finding })))
}

function diagnosticsOf(task: Task, found: FoundDiagnostic): Diagnostic[] {
  if (found.length === 0) return []
  const placeOf = placesIn(task.source)
  const endOf = (offset: number): { endLine: number; endColumn: number } => {
    const { line, column } = placeOf(offset)
    return { endLine: line, endColumn: column }
  }
  return found.map(({ rule, finding: { span, message, fix } }) => ({
    file: task.file,
    ...placeOf(span.start),
    severity: rule.severity,
    rule: rule.name,
    message,
    ...endOf(span.end),
    ...(fix && { fix: { ...placeOf(fix.start), ...endOf(fix.end), text: fix.text } }),
  }))
}

/** The order of diagnostics. */
export function byPlace(a: Diagnostic, b: Diagnostic): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1
  return a.line - b.line || a.column - b.column || (a.rule < b.rule ? -1 : 1)
}
