import type { TaskNumber } from '../ids.ts'
import type { TaskHead } from '../model.ts'
import { inOrder } from '../order.ts'

/** Which file claims which number. Ids are compared as numbers, so `T-1.md` and `T-001.md` claim the same one. */
export interface Claims<T extends TaskHead> {
  /** All tasks, by number, then by file name. */
  readonly ordered: readonly T[]
  /** The first file, by name, of each number. An object, not a map: for dense numbers it is as fast as an array. */
  readonly first: Readonly<Record<TaskNumber, T>>
  /** All tasks of each number that several claim. */
  readonly rivals: ReadonlyMap<TaskNumber, readonly T[]>
}

export function claimsOf<T extends TaskHead>(tasks: readonly T[]): Claims<T> {
  const ordered = inOrder(tasks)
  const first: Record<TaskNumber, T> = {}
  const rivals = new Map<TaskNumber, T[]>()
  for (const task of ordered) {
    const { number } = task
    const before = first[number]
    if (before === undefined) first[number] = task
    else if (rivals.has(number)) rivals.get(number)!.push(task)
    else rivals.set(number, [before, task])
  }
  return { ordered, first, rivals }
}

/** The task because of which a number is not DONE: if several claim it, each must be. Null if there is none. */
export function unfinishedOf<T extends TaskHead>(
  number: TaskNumber,
  { first, rivals }: Claims<T>,
): T | 'missing' | null {
  const task = first[number]
  if (!task) return 'missing'
  if (task.status !== 'DONE') return task
  return rivals.get(number)?.find((rival) => rival.status !== 'DONE') ?? null
}
