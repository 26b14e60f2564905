import type { Task } from '../task/model.ts'

/** Who needs whom. A node stands for a number, for two files with one number cannot be told apart by those who need them. */
export interface Graph {
  /** By number, ascending. */
  readonly nodes: readonly Node[]
  readonly nodeOf: ReadonlyMap<number, Node>
}

/** One number, the files that claim it, and what they need. */
export interface Node {
  readonly index: number
  readonly number: number
  /** By file name; two or more are duplicates. */
  readonly tasks: readonly [Task, ...Task[]]
  /** Each node once, in the order in which it is named; numbers without a task are left out. */
  readonly needs: readonly Node[]
}

/** Builds the graph of tasks that stand in number order, as `inOrder` gives them. */
export function graphOf(ordered: readonly Task[]): Graph {
  const nodes: MutableNode[] = []
  const nodeOf = new Map<number, MutableNode>()
  for (const task of ordered) {
    const node = nodeOf.get(task.number)
    if (node) {
      node.tasks.push(task)
      continue
    }
    const fresh: MutableNode = { index: nodes.length, number: task.number, tasks: [task], needs: [] }
    nodes.push(fresh)
    nodeOf.set(task.number, fresh)
  }
  for (const node of nodes) node.needs = needsOf(node, nodeOf)
  return { nodes, nodeOf }
}

/** Tasks by number, files of one number by name: the same order on every machine. */
export function inOrder(tasks: readonly Task[]): readonly Task[] {
  return [...tasks].sort((a, b) => a.number - b.number || (a.file < b.file ? -1 : 1))
}

interface MutableNode {
  readonly index: number
  readonly number: number
  readonly tasks: [Task, ...Task[]]
  needs: readonly MutableNode[]
}

function needsOf(node: MutableNode, nodeOf: ReadonlyMap<number, MutableNode>): readonly MutableNode[] {
  const needs = new Set<MutableNode>()
  for (const task of node.tasks) {
    for (const dependency of task.depends) {
      const needed = nodeOf.get(dependency.number)
      if (needed) needs.add(needed)
    }
  }
  return [...needs]
}
