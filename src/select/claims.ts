import type { TaskHead } from '../task/model.ts'

/** Which file has which number. Ids are compared as numbers, so `T-1.md` and `T-001.md` claim the same one. */
export interface Claims<T extends TaskHead> {
  /** The first file, by name, of each number. An object and not a map: for numbers that stand close it is as quick as an array. */
  readonly first: Readonly<Record<number, T>>
  /** Every file of a number that more than one claims. */
  readonly rivals: ReadonlyMap<number, Rivals<T>>
}

/** The tasks that claim one number, and their files. */
export interface Rivals<T extends TaskHead> {
  readonly tasks: readonly T[]
  readonly files: readonly string[]
}

/** Tasks by number, files of one number by name: the same order on every machine. */
export function inOrder<T extends TaskHead>(tasks: readonly T[]): readonly T[] {
  return tasks.every((task, i) => i === 0 || compare(tasks[i - 1]!, task) < 0)
    ? tasks
    : tasks.toSorted(compare)
}

function compare(a: TaskHead, b: TaskHead): number {
  return a.number - b.number || (a.file < b.file ? -1 : 1)
}

/** Who claims what, of tasks that stand in order. */
export function claimsOf<T extends TaskHead>(ordered: readonly T[]): Claims<T> {
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
  return { first, rivals }
}

/** The task that keeps a number from being DONE: of several that claim it, each must be. */
export function unfinishedOf<T extends TaskHead>(
  number: number,
  { first, rivals }: Claims<T>,
): T | undefined {
  const task = first[number]
  if (task && task.status !== 'DONE') return task
  return rivals.get(number)?.tasks.find((rival) => rival.status !== 'DONE')
}
