import type { TaskHead } from '../model.ts'

/** A number and its needs. Files with the same number are one node, as its dependants cannot distinguish them. */
export interface Node<T extends TaskHead> {
  readonly index: number
  /** The first task with the number. */
  readonly task: T
  /** In the order of the field, with repeats; numbers without a task are left out. */
  readonly needs: readonly Node<T>[]
}

/** The dependency graph of ordered tasks, as nodes by ascending number. */
export function graphOf<T extends TaskHead>(ordered: readonly T[]): readonly Node<T>[] {
  const nodes = new Map<number, { index: number; task: T; needs: Node<T>[] }>()
  for (const task of ordered) {
    if (!nodes.has(task.number)) nodes.set(task.number, { index: nodes.size, task, needs: [] })
  }
  for (const task of ordered) {
    const { needs } = nodes.get(task.number)!
    for (const number of task.needs) {
      const needed = nodes.get(number)
      if (needed) needs.push(needed)
    }
  }
  return [...nodes.values()]
}
