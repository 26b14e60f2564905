import { placeAt } from '../base/diagnostic.ts'
import { unreachable } from '../base/errors.ts'
import type { Reason, TaskState } from '../select/selection.ts'
import { sectionOf, type Task } from '../task/model.ts'

/** Why a task is not up, and where to look or what to do about it. */
export interface Explanation {
  readonly why: string
  /** A place in a file, or a command; empty where the reason says it all. */
  readonly where: string
}

/** Everything that keeps a task from being eligible, in words. Nothing for one that is eligible or done. */
export function explain({ task, waiting }: TaskState): readonly Explanation[] {
  if (task.status === 'BLOCKED') {
    return [{ why: `blocked: ${blockedReason(task)}`, where: `ralph retry ${task.id}` }]
  }
  const needs = waiting.filter((reason) => reason.kind === 'dependency').map(needText)
  const others = waiting.filter((reason) => reason.kind !== 'dependency')
  const first = needs.length > 0 ? [{ why: `needs ${needs.join(', ')}`, where: '' }] : []
  return [...first, ...others.map((reason) => explainOther(reason, task))]
}

/** The first line of what stands under Blocked. */
function blockedReason(task: Task): string {
  const section = sectionOf(task, 'Blocked')
  const text = section ? task.source.slice(section.bodySpan.start, section.bodySpan.end) : ''
  const line = text.split(/\r\n|\r|\n/).find((line) => line.trim() !== '')
  return (
    line?.replace(/^\s*(?:[-*+>]\s+)?(?:\*\*)?(?:Reason)?(?:\*\*)?:?(?:\*\*)?\s*/i, '').trim() ||
    'no reason is given'
  )
}

function needText({ id, status }: Extract<Reason, { kind: 'dependency' }>): string {
  return `${id} (${status ?? 'no clear status'})`
}

function explainOther(reason: Exclude<Reason, { kind: 'dependency' }>, task: Task): Explanation {
  switch (reason.kind) {
    case 'missing':
      return { why: `needs ${reason.id}, which does not exist`, where: placeOfDependency(task, reason.id) }
    case 'cycle':
      return { why: `waits for itself: ${[...reason.ids, reason.ids[0]].join(' → ')}`, where: task.file }
    case 'blocked-section':
      return { why: `blocked: ${blockedReason(task)}`, where: placeOfSection(task) }
    case 'invalid':
      return { why: reason.message, where: `${task.file}:${reason.line}` }
    case 'duplicate':
      return { why: `its number is taken twice: ${reason.files.join(', ')}`, where: '' }
    default:
      return unreachable(reason)
  }
}

function placeOfDependency(task: Task, id: string): string {
  const dependency = task.depends.find((dependency) => dependency.id === id)
  return dependency ? placeText(task, dependency.span.start) : task.file
}

function placeOfSection(task: Task): string {
  const section = sectionOf(task, 'Blocked')
  return section ? placeText(task, section.span.start) : task.file
}

function placeText(task: Task, offset: number): string {
  const { line, column } = placeAt(task.source, offset)
  return `${task.file}:${line}:${column}`
}
