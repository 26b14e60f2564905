import { shortened } from '../../base/text.ts'
import type { Span } from '../../base/diagnostic.ts'
import { closest, misspelling } from '../../base/spelling.ts'
import {
  type Field,
  fieldOf,
  FIELD_NAMES,
  type FieldName,
  headingSpan,
  type Section,
  type Task,
  type TaskName,
} from '../model.ts'
import { saysSomething } from '../template.ts'
import { digitsIn, padded, partsOf } from '../ids.ts'
import { FIELD_SYNONYMS } from '../vocabulary.ts'

/** The value of a field; the heading if the task has no such field. */
export function valueSpan(task: Task, name: FieldName): Span {
  return fieldOf(task, name)?.valueSpan ?? headingSpan(task)
}

/** The places of some texts in a field's value, in order; the whole value for one that is not found. */
export function spansInValue(task: Task, name: FieldName, texts: readonly string[]): Span[] {
  const whole = valueSpan(task, name)
  const value = task.source.slice(whole.start, whole.end)
  let from = 0
  return texts.map((text) => {
    // After one that is not found, the others are not searched: each search would read the whole value.
    const at = from < 0 ? -1 : value.indexOf(text, from)
    from = at < 0 ? -1 : at + text.length
    return at < 0 ? whole : { start: whole.start + at, end: whole.start + at + text.length }
  })
}

/** The line of a section's heading. */
export function titleSpan(section: Section): Span {
  return { start: section.span.start, end: section.bodySpan.start }
}

/** Whether a section has content: comments and empty items do not count. */
export function hasText(task: Task, section: Section): boolean {
  return saysSomething(task.source.slice(section.bodySpan.start, section.bodySpan.end))
}

/** The field that an unknown key is similar to; undefined if there is none. */
export function nearKey({ name, key }: Field): string | undefined {
  return name === null ? misspelling(key, KNOWN) : undefined
}

const KNOWN = [...FIELD_NAMES, ...Object.values(FIELD_SYNONYMS).flat()]

/** ` (did you mean X?)`, or nothing if no known word is similar. */
export function suggestion(typed: string, known: Iterable<string>): string {
  const near = closest(typed, known)
  return near === undefined ? '' : ` (did you mean ${near}?)`
}

/** A text from a file as one quoted word of a message, shortened. */
export function quote(text: string): string {
  return `"${shortened(text.replace(/\s+/g, ' '), LONGEST)}"`
}

const LONGEST = 60

/** The id of a task with as many digits as most ids of its pattern have; as it is if no number of digits has a majority. */
export function usualIds(tasks: readonly TaskName[]): (task: TaskName) => string {
  const widths = new Map<number, number | null>()
  return (task) => {
    const pattern = patternOf(task)
    if (!widths.has(pattern))
      widths.set(pattern, usualWidth(tasks.filter((one) => patternOf(one) === pattern)))
    const width = widths.get(pattern) ?? null
    return width === null ? task.id : padded(task.id, width)
  }
}

const patternOf = ({ number }: TaskName): number => partsOf(number).place

/** Null if no width has a majority. */
function usualWidth(tasks: readonly TaskName[]): number | null {
  const counts = new Map<number, number>()
  for (const { id } of tasks) {
    const width = digitsIn(id)
    counts.set(width, (counts.get(width) ?? 0) + 1)
  }
  const most = Math.max(...counts.values())
  const usual = [...counts].filter(([, count]) => count === most)
  return usual.length === 1 ? usual[0]![0] : null
}
