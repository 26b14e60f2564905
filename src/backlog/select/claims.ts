import type { TaskHead } from '../model.ts'
import { inOrder } from '../order.ts'

/** Which file claims which number. Ids are compared as numbers, so `T-1.md` and `T-001.md` claim the same one. */
export interface Claims<T extends TaskHead> {
  /** All tasks, by number, then by file name. */
  readonly ordered: readonly T[]
  /** The first file, by name, of each number. An object, not a map: for dense numbers it is as fast as an array. */
  readonly first: Readonly<Record<number, T>>
  /** All files of each number that several claim. */
  readonly rivals: ReadonlyMap<number, Rivals<T>>
}

/** The tasks that claim one number, and their files. */
interface Rivals<T extends TaskHead> {
  readonly tasks: readonly T[]
  readonly files: readonly string[]
}

/** Finds the claims. A backlog in order, with each number once, needs only one pass. */
export function claimsOf<T extends TaskHead>(tasks: readonly T[]): Claims<T> {
  const first: Record<number, T> = {}
  let last = -1
  for (const task of tasks) {
    if (task.number <= last) return rivalClaims(inOrder(tasks))
    last = task.number
    first[last] = task
  }
  return { ordered: tasks, first, rivals: new Map() }
}

function rivalClaims<T extends TaskHead>(ordered: readonly T[]): Claims<T> {
  const first: Record<number, T> = {}
  const rivals = new Map<number, { tasks: T[]; files: string[] }>()
  for (const task of ordered) {
    const before = first[task.number]
    if (!before) {
      first[task.number] = task
      continue
    }
    const known = rivals.get(task.number) ?? { tasks: [before], files: [before.file] }
    known.tasks.push(task)
    known.files.push(task.file)
    rivals.set(task.number, known)
  }
  return { ordered, first, rivals }
}

/** The task because of which a number is not DONE: if several claim it, each must be. Null if there is none. */
export function unfinishedOf<T extends TaskHead>(
  number: number,
  { first, rivals }: Claims<T>,
): T | 'missing' | null {
  const task = first[number]
  if (!task) return 'missing'
  if (task.status !== 'DONE') return task
  return rivals.get(number)?.tasks.find((rival) => rival.status !== 'DONE') ?? null
}
