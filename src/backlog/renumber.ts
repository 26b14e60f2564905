import { edited, type Splice } from './markdown/splice.ts'
import type { Task } from './model.ts'
import type { TaskIds, TaskNumber } from './ids.ts'

/** The new id of each task, by its old number. */
type NewIds = ReadonlyMap<TaskNumber, string>

/** The file's text with all of these ids replaced: its author meant these tasks. */
export function withIds(task: Task, to: NewIds, ids: TaskIds): string {
  return edited(task, idsWithin(task.source, 0, { to, ids }))
}

/** The same for Depends alone. */
export function withDepends(task: Task, to: NewIds, ids: TaskIds): string {
  const splices = task.depends.flatMap(({ number, span }) =>
    to.has(number) ? idsWithin(task.source.slice(span.start, span.end), span.start, { to, ids }) : [],
  )
  return edited(task, splices)
}

function idsWithin(
  text: string,
  offset: number,
  { to, ids }: { to: NewIds; ids: TaskIds },
): readonly Splice[] {
  const anyId = ids.regex(String.raw`(?<![\w-])<named>(?![\w-]*\w)`, 'gi')
  return [...text.matchAll(anyId)].flatMap(({ 0: id, index }) => {
    const replaced = to.get(ids.numberOf(id))
    const start = offset + index
    return replaced === undefined ? [] : [{ start, end: start + id.length, text: replaced }]
  })
}
