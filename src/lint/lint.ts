import type { Diagnostic } from '../base/diagnostic.ts'
import { placesIn } from '../base/places.ts'
import { claimsOf, inOrder } from '../select/claims.ts'
import { findCycles } from '../select/cycles.ts'
import type { Task } from '../task/model.ts'
import type { LintContext } from './context.ts'
import type { Finding, Rule } from './rule.ts'
import { RULES } from './rules.ts'
import { usualWidth } from './usual-width.ts'

/** Checks a whole backlog: what is wrong, by file, line and column. */
export function lint(tasks: readonly Task[], context: LintContext = {}): Diagnostic[] {
  return findAll(tasks, context)
    .flatMap(({ task, found }) => diagnosticsOf(task, found))
    .sort(byPlace)
}

/** A task, and what each rule found in it. */
export interface TaskFindings {
  readonly task: Task
  readonly found: readonly { readonly rule: Rule; readonly finding: Finding }[]
}

/** What the rules find, task by task: with their fixes, but not yet placed. */
export function findAll(tasks: readonly Task[], context: LintContext): TaskFindings[] {
  const ordered = inOrder(tasks)
  const backlog = {
    tasks: ordered,
    claims: claimsOf(ordered),
    cycles: findCycles(ordered),
    idWidth: usualWidth(ordered),
    context,
  }
  const checks = RULES.map((rule) => ({ rule, check: rule.start(backlog) }))
  return ordered.map((task) => ({
    task,
    found: checks.flatMap(({ rule, check }) => check(task).map((finding) => ({ rule, finding }))),
  }))
}

function diagnosticsOf(task: Task, found: TaskFindings['found']): Diagnostic[] {
  const placeOf = placesIn(task.source)
  return found.map(({ rule, finding }) => ({
    file: task.file,
    ...placeOf(finding.span.start),
    severity: rule.severity,
    rule: rule.name,
    message: finding.message,
  }))
}

function byPlace(a: Diagnostic, b: Diagnostic): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1
  return a.line - b.line || a.column - b.column || (a.rule < b.rule ? -1 : 1)
}
