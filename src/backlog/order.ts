import type { TaskName } from './model.ts'

/** Sorts tasks by number, then by file name: the same order on every machine. */
export function inOrder<T extends TaskName>(tasks: readonly T[]): readonly T[] {
  let largest = -1
  let isOrdered = true
  for (const { number } of tasks) {
    if (number > largest) largest = number
    else isOrdered = false
  }
  if (isOrdered) return tasks
  return (largest <= SPARSEST * tasks.length ? inPlaces(tasks, largest) : null) ?? tasks.toSorted(byNumber)
}

// With fewer tasks for the largest number, an array by number would be mostly empty.
const SPARSEST = 4

/** Without duplicate numbers each task has its place, and no comparison is needed. */
function inPlaces<T extends TaskName>(tasks: readonly T[], largest: number): readonly T[] | null {
  const places: T[] = []
  places.length = largest + 1
  for (const task of tasks) {
    if (places[task.number] !== undefined) return null
    places[task.number] = task
  }
  return Object.values(places)
}

function byNumber(a: TaskName, b: TaskName): number {
  return a.number - b.number || (a.file < b.file ? -1 : 1)
}
