import type { TaskState } from '../backlog/select/selection.ts'
import type { DrawnTask } from './graph-layers.ts'

type States = readonly TaskState<DrawnTask>[]

/** Which part of the graph to show. */
export interface GraphPart {
  /** Only this task with all its needs and dependants, at any distance; null for every task. */
  readonly around: number | null
  /** Whether to leave out tasks that are DONE. */
  readonly todo: boolean
}

/** The requested part of the graph: no task in it needs one that is left out. */
export function graphPart(states: States, { around, todo }: GraphPart): States {
  const related = around === null ? null : relatedTo(states, around)
  return partOf(
    states,
    ({ task }) => (related === null || related.has(task.number)) && !(todo && task.status === 'DONE'),
  )
}

/** Some of the tasks, and the needs between them. */
export function partOf(states: States, isShown: (state: States[number]) => boolean): States {
  const known = new Set(states.map(({ task }) => task.number))
  const shown = states.filter(isShown)
  const left = new Set(shown.map(({ task }) => task.number))
  // Missing tasks stay visible as needs.
  const isSeen = (number: number): boolean => left.has(number) || !known.has(number)
  return shown.map((state) => {
    const { task } = state
    const depends = task.depends.filter(({ number }) => isSeen(number))
    return { ...state, task: { ...task, depends, needs: task.needs.filter(isSeen) } }
  })
}

/** The task with all its needs and dependants, at any distance. */
function relatedTo(states: States, number: number): ReadonlySet<number> {
  const needs = new Map<number, readonly number[]>()
  const dependants = new Map<number, number[]>()
  for (const { task } of states) {
    needs.set(task.number, [...(needs.get(task.number) ?? []), ...task.needs])
    for (const needed of task.needs) dependants.set(needed, [...(dependants.get(needed) ?? []), task.number])
  }
  return new Set([...reachable(number, needs), ...reachable(number, dependants)])
}

function reachable(from: number, edges: ReadonlyMap<number, readonly number[]>): ReadonlySet<number> {
  const reached = new Set([from])
  for (const number of reached) for (const next of edges.get(number) ?? []) reached.add(next)
  return reached
}
