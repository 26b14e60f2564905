import type { Span } from '../base/diagnostic.ts'
import { edited, type Splice } from './markdown/splice.ts'
import { headingSpan, type Task } from './model.ts'
import type { TaskIds, TaskNumber } from './ids.ts'

/** The new id of each task, by its old number. */
type NewIds = ReadonlyMap<TaskNumber, string>

/** The file's text with all of these ids replaced: its author meant these tasks. */
export function withIds(task: Task, to: NewIds, ids: TaskIds): string {
  // A bare number is an id only where one must be.
  const own = idsWithin(task.source, headingSpan(task), { to, ids })
  const splices = [
    ...own.filter(({ number }) => number === task.number).slice(0, 1),
    ...inDepends(task, to, ids),
    ...idsWithin(task.source, { start: 0, end: task.source.length }, { to, ids, name: '<named>' }),
  ]
  return edited(task, [...new Map(splices.map((splice) => [splice.start, splice])).values()])
}

/** The same for Depends alone. */
export function withDepends(task: Task, to: NewIds, ids: TaskIds): string {
  return edited(task, inDepends(task, to, ids))
}

function inDepends({ source, depends }: Task, to: NewIds, ids: TaskIds): readonly Splice[] {
  return depends.flatMap(({ number, span }) => (to.has(number) ? idsWithin(source, span, { to, ids }) : []))
}

function idsWithin(
  source: string,
  { start: from, end: to }: Span,
  { to: newIds, ids, name = '<id>' }: { to: NewIds; ids: TaskIds; name?: '<id>' | '<named>' },
) {
  const anyId = ids.regex(String.raw`(?<![\w-])${name}(?![\w-]*\w)`, 'gi')
  return [...source.slice(from, to).matchAll(anyId)].flatMap(({ 0: id, index }) => {
    const number = ids.numberOf(id)
    const text = newIds.get(number)
    const start = from + index
    return text === undefined ? [] : [{ number, start, end: start + id.length, text }]
  })
}
