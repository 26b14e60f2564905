import { compareNumbers, type TaskNumber } from '../ids.ts'
import type { Task, TaskHead } from '../model.ts'

/** What a cycle is made of. */
export type Waiter = Pick<TaskHead, 'id' | 'number' | 'needs'>

/**
 * Tasks that all wait for each other. Cycles that share a task are one. Its members begin with the lowest number and
 * follow their needs, so a simple cycle is in its own order.
 */
export interface Cycle<T extends Waiter = Task> {
  readonly ids: readonly string[]
  readonly tasks: readonly T[]
}

/** Every cycle among ordered tasks, by lowest number: Kosaraju's strongly connected components. */
export function findCycles<T extends Waiter>(ordered: readonly T[]): readonly Cycle<T>[] {
  if (needOnlyLower(ordered)) return []
  const nodes = graphOf(ordered)
  const left = new Set(nodes)
  return afterNeeds(nodes)
    .toReversed()
    .map((node) => walk(node, ({ users }) => users, left))
    .filter(([first, second]) => first && (second || first.needs.includes(first)))
    .map((knot) => {
      const lowest = knot.reduce((low, node) =>
        compareNumbers(node.task.number, low.task.number) < 0 ? node : low,
      )
      const tasks = walk(lowest, ({ needs }) => needs, new Set(knot)).map(({ task }) => task)
      return { ids: tasks.map(({ id }) => id), tasks }
    })
    .sort((a, b) => compareNumbers(a.tasks[0]!.number, b.tasks[0]!.number))
}

/** In most backlogs this holds, so there is no cycle and no need for a graph. */
function needOnlyLower(tasks: readonly Waiter[]): boolean {
  for (const { number, needs } of tasks) {
    for (const need of needs) if (compareNumbers(need, number) >= 0) return false
  }
  return true
}

/** All nodes, each after what it needs where no cycle prevents that. Long chains would overflow the engine's stack. */
function afterNeeds<T extends Waiter>(nodes: readonly Node<T>[]): Node<T>[] {
  const seen = new Set<Node<T>>()
  const after: Node<T>[] = []
  for (const root of nodes) {
    const path: { node: Node<T>; needs: Iterator<Node<T>, undefined> }[] = []
    const enter = (node: Node<T>): void => {
      if (!seen.has(node)) path.push({ node, needs: node.needs.values() })
      seen.add(node)
    }
    enter(root)
    for (let last = path.at(-1); last; last = path.at(-1)) {
      const need = last.needs.next().value
      if (need) enter(need)
      else after.push(path.pop()!.node)
    }
  }
  return after
}

/** The nodes that can be reached, depth first; only through those that are left, which it takes out. */
function walk<T extends Waiter>(
  start: Node<T>,
  edgesOf: (node: Node<T>) => readonly Node<T>[],
  left: Set<Node<T>>,
): Node<T>[] {
  const reached: Node<T>[] = []
  const ahead = [start]
  for (let node = ahead.pop(); node; node = ahead.pop()) {
    if (!left.delete(node)) continue
    reached.push(node)
    for (const next of edgesOf(node).toReversed()) ahead.push(next)
  }
  return reached
}

/** A number, what it needs, and what needs it. Files with the same number are one node, as its dependants cannot distinguish them. */
interface Node<T extends Waiter> {
  /** The first task with the number. */
  readonly task: T
  /** In the order of the field, with repeats; numbers without a task are left out. */
  readonly needs: Node<T>[]
  readonly users: Node<T>[]
}

/** The dependency graph of ordered tasks, as nodes by ascending number. */
function graphOf<T extends Waiter>(ordered: readonly T[]): readonly Node<T>[] {
  const nodes = new Map<TaskNumber, Node<T>>()
  for (const task of ordered)
    if (!nodes.has(task.number)) nodes.set(task.number, { task, needs: [], users: [] })
  for (const task of ordered) {
    const node = nodes.get(task.number)!
    for (const number of task.needs) {
      const needed = nodes.get(number)
      if (!needed) continue
      node.needs.push(needed)
      needed.users.push(node)
    }
  }
  return [...nodes.values()]
}
