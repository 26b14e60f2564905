import { compareNumbers } from './ids.ts'
import type { TaskName } from './model.ts'

/** Sorts tasks by number, then by file name: the same order on every machine. */
export function inOrder<T extends TaskName>(tasks: readonly T[]): readonly T[] {
  // Many folders are in order already.
  const isOrdered = tasks.every(
    ({ number }, index) => index === 0 || compareNumbers(tasks[index - 1]!.number, number) < 0,
  )
  if (isOrdered) return tasks
  return tasks.toSorted((a, b) => compareNumbers(a.number, b.number) || (a.file < b.file ? -1 : 1))
}
