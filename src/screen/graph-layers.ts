import type { TaskState } from '../backlog/select/selection.ts'
import type { Facts } from '../backlog/model.ts'

/** The facts of a task in the graph. */
export type DrawnTask = Facts<'title' | 'depends'>

/** The tasks in layers, each below all its needs, by number within a layer; tasks that wait for a cycle come last. */
export function inLayers(states: readonly TaskState<DrawnTask>[]): readonly TaskState<DrawnTask>[] {
  const dependants = new Map<number, TaskState<DrawnTask>[]>()
  for (const { task } of states) dependants.set(task.number, [])
  const open = new Map<TaskState<DrawnTask>, number>()
  for (const state of states) {
    const needs = state.task.needs.filter((number) => dependants.has(number))
    open.set(state, needs.length)
    for (const number of needs) dependants.get(number)!.push(state)
  }
  const order: TaskState<DrawnTask>[] = []
  let layer = states.filter((state) => open.get(state) === 0)
  while (layer.length > 0) {
    order.push(...layer)
    layer = nextLayer(layer, dependants, open)
  }
  const placed = new Set(order)
  return [...order, ...states.filter((state) => !placed.has(state))]
}

function nextLayer(
  layer: readonly TaskState<DrawnTask>[],
  dependants: ReadonlyMap<number, readonly TaskState<DrawnTask>[]>,
  open: Map<TaskState<DrawnTask>, number>,
): TaskState<DrawnTask>[] {
  const next: TaskState<DrawnTask>[] = []
  // Two files may share a number: its dependants are released once.
  for (const number of new Set(layer.map(({ task }) => task.number))) {
    for (const state of dependants.get(number) ?? []) {
      const left = open.get(state)! - 1
      open.set(state, left)
      if (left === 0) next.push(state)
    }
  }
  return next.sort((a, b) => a.task.number - b.task.number)
}
