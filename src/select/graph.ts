import type { TaskHead } from '../task/model.ts'

/** One number, and what it needs. Files with one number are one node, for those who need it cannot tell them apart. */
export interface Node<T extends TaskHead> {
  readonly index: number
  /** The first that claims the number. */
  readonly task: T
  /** As they are named, repeats and all; numbers without a task are left out. */
  readonly needs: readonly Node<T>[]
}

/** Who needs whom among tasks that stand in order, as nodes by number, ascending. */
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
