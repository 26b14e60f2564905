import { edited, type Splice } from './markdown/splice.ts'
import type { Task } from './model.ts'
import { numberOf } from './values.ts'

/** The new id of each task, by its old number. */
type NewIds = ReadonlyMap<number, string>

/** The file's text with all of these ids replaced: its author meant these tasks. */
export function withIds(task: Task, ids: NewIds): string {
  return edited(task, idsWithin(task.source, 0, ids))
}

/** The same for Depends alone. */
export function withDepends(task: Task, ids: NewIds): string {
  const splices = task.depends.flatMap(({ number, span }) =>
    ids.has(number) ? idsWithin(task.source.slice(span.start, span.end), span.start, ids) : [],
  )
  return edited(task, splices)
}

function idsWithin(text: string, offset: number, ids: NewIds): readonly Splice[] {
  return [...text.matchAll(/(?<![\w-])T-\d+(?![\w-]*\w)/gi)].flatMap(({ 0: id, index }) => {
    const to = ids.get(numberOf(id.toUpperCase()))
    const start = offset + index
    return to === undefined ? [] : [{ start, end: start + id.length, text: to }]
  })
}
