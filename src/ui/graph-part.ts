import type { TaskState } from '../select/selection.ts'
import type { DrawnTask } from './graph-layers.ts'

type States = readonly TaskState<DrawnTask>[]

/** What is to be left out of the graph. */
export interface GraphPart {
  /** Only what this task needs and what needs it, all the way; null is every task. */
  readonly around: number | null
  /** Without what is DONE. */
  readonly todo: boolean
}

/** The part of the graph that was asked for: no task in it needs one that is left out. */
export function graphPart(states: States, { around, todo }: GraphPart): States {
  const related = around === null ? null : relatedTo(states, around)
  return partOf(
    states,
    ({ task }) => (related === null || related.has(task.number)) && !(todo && task.status === 'DONE'),
  )
}

/** Some of the tasks, and what they need of each other. */
export function partOf(states: States, isShown: (state: States[number]) => boolean): States {
  const known = new Set(states.map(({ task }) => task.number))
  const shown = states.filter(isShown)
  const left = new Set(shown.map(({ task }) => task.number))
  // What does not exist was left out by nobody: it is still to be seen.
  const isSeen = (number: number): boolean => left.has(number) || !known.has(number)
  return shown.map((state) => {
    const { task } = state
    const depends = task.depends.filter(({ number }) => isSeen(number))
    return { ...state, task: { ...task, depends, needs: task.needs.filter(isSeen) } }
  })
}

/** The task, what it needs and what needs it, all the way. */
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
