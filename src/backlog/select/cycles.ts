import type { Task, TaskHead } from '../model.ts'

/**
 * Tasks that all wait for each other. Cycles that share a task are one. Its members begin with the lowest number and
 * follow their needs, so a simple cycle is in its own order.
 */
export interface Cycle<T extends TaskHead = Task> {
  readonly ids: readonly string[]
  readonly tasks: readonly T[]
}

/** Every cycle among ordered tasks, by lowest number. */
export function findCycles<T extends TaskHead>(ordered: readonly T[]): readonly Cycle<T>[] {
  if (needOnlyLower(ordered)) return []
  return knots(graphOf(ordered))
    .map((members) => walk(members).map((node) => node.task))
    .sort((a, b) => a[0]!.number - b[0]!.number)
    .map((tasks) => ({ ids: tasks.map((task) => task.id), tasks }))
}

/** In most backlogs this holds, so there is no cycle and no need for a graph. */
function needOnlyLower(tasks: readonly TaskHead[]): boolean {
  for (const { number, needs } of tasks) {
    for (const need of needs) if (need >= number) return false
  }
  return true
}

/** Tarjan's strongly connected components with an explicit stack, as long chains overflow the engine's; only those with a cycle. */
function knots<T extends TaskHead>(nodes: readonly Node<T>[]): Node<T>[][] {
  const count = nodes.length
  const seenAt = new Int32Array(count)
  const lowest = new Int32Array(count)
  const nextNeed = new Int32Array(count)
  const onPath = new Uint8Array(count)
  const open: Node<T>[] = []
  const found: Node<T>[][] = []
  let clock = 0

  const visit = (node: Node<T>, path: Node<T>[]): void => {
    seenAt[node.index] = lowest[node.index] = ++clock
    onPath[node.index] = 1
    open.push(node)
    path.push(node)
  }
  const leave = (node: Node<T>, path: Node<T>[]): void => {
    path.pop()
    const parent = path.at(-1)
    if (parent) lowest[parent.index] = Math.min(lowest[parent.index]!, lowest[node.index]!)
    if (lowest[node.index] !== seenAt[node.index]) return
    const knot = open.splice(open.lastIndexOf(node))
    for (const member of knot) onPath[member.index] = 0
    if (knot.length > 1 || node.needs.includes(node)) found.push(knot)
  }

  for (const root of nodes) {
    if (seenAt[root.index]) continue
    const path: Node<T>[] = []
    visit(root, path)
    for (let node = path.at(-1); node; node = path.at(-1)) {
      const need = node.needs[nextNeed[node.index]!++]
      if (!need) leave(node, path)
      else if (!seenAt[need.index]) visit(need, path)
      else if (onPath[need.index]) lowest[node.index] = Math.min(lowest[node.index]!, seenAt[need.index]!)
    }
  }
  return found
}

/** The members from the lowest on, depth first along their needs. */
function walk<T extends TaskHead>(members: readonly Node<T>[]): Node<T>[] {
  const left = new Set(members)
  const start = members.reduce((low, node) => (node.index < low.index ? node : low))
  const path: Node<T>[] = []
  const ahead = [start]
  for (let node = ahead.pop(); node; node = ahead.pop()) {
    if (!left.delete(node)) continue
    path.push(node)
    for (const need of node.needs.toReversed()) ahead.push(need)
  }
  return path
}

/** A number and its needs. Files with the same number are one node, as its dependants cannot distinguish them. */
interface Node<T extends TaskHead> {
  readonly index: number
  /** The first task with the number. */
  readonly task: T
  /** In the order of the field, with repeats; numbers without a task are left out. */
  readonly needs: readonly Node<T>[]
}

/** The dependency graph of ordered tasks, as nodes by ascending number. */
function graphOf<T extends TaskHead>(ordered: readonly T[]): readonly Node<T>[] {
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
