import type { Span } from '../base/diagnostic.ts'
import { fieldOf, type FieldName, type Section, type Task } from '../task/model.ts'

/** The line of the H1; the file's first character where there is none. */
export function headingSpan(task: Task): Span {
  const heading = /^#[ \t].*$/m.exec(task.source)
  return heading ? { start: heading.index, end: heading.index + heading[0].length } : { start: 0, end: 0 }
}

/** The value of a field; the heading where the task has no such field. */
export function valueSpan(task: Task, name: FieldName): Span {
  return fieldOf(task, name)?.valueSpan ?? headingSpan(task)
}

/** Where a text stands in the value of a field; the whole value where it is not written like that. */
export function spanInValue(task: Task, name: FieldName, text: string): Span {
  const span = valueSpan(task, name)
  const at = task.source.indexOf(text, span.start)
  return at >= 0 && at + text.length <= span.end ? { start: at, end: at + text.length } : span
}

/** The line of a section's heading. */
export function titleSpan(section: Section): Span {
  return { start: section.span.start, end: section.bodySpan.start }
}

/** Whether a section says anything, comments aside. */
export function hasText(task: Task, section: Section): boolean {
  const body = task.source.slice(section.bodySpan.start, section.bodySpan.end)
  return body.replace(/<!--[\s\S]*?(?:-->|$)/g, '').trim() !== ''
}
