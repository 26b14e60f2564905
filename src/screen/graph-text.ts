import type { TaskState } from '../backlog/select/selection.ts'
import type { DrawnTask } from './graph-rows.ts'
import type { TaskNumber } from '../backlog/ids.ts'
import { standingOf, type StandingText } from './task-lines.ts'
import { printable } from './printable.ts'

const FILLS = {
  done: '#d3f0d8',
  eligible: '#cfe8fc',
  waiting: '#f2f2f2',
  blocked: '#fbd5d5',
  unclear: '#fdeec2',
} as const satisfies Record<StandingText, string>

/** The dependencies as Mermaid, which GitHub draws in Markdown. */
export function mermaidOf(states: readonly TaskState<DrawnTask>[]): string {
  const { nodes, edges } = graphOf(states)
  const classes = Object.entries(FILLS).map(
    ([standing, fill]) => `  classDef ${standing} fill:${fill},color:#111`,
  )
  return textOf([
    'graph TD',
    ...nodes.map(
      ({ number, id, title, standing }) =>
        `  ${nodeOf(number)}["${mermaidText(`${id}: ${title}`)}"]:::${standing}`,
    ),
    ...edges.map(({ from, to }) => `  ${nodeOf(from)} --> ${nodeOf(to)}`),
    ...classes,
  ])
}

/** The dependencies in Graphviz's language. */
export function dotOf(states: readonly TaskState<DrawnTask>[]): string {
  const { nodes, edges } = graphOf(states)
  return textOf([
    'digraph tasks {',
    '  rankdir=LR;',
    '  node [shape=box, style="rounded,filled"];',
    ...nodes.map(
      ({ number, id, title, standing }) =>
        `  ${nodeOf(number)} [label="${dotText(id)}\\n${dotText(title)}", fillcolor="${FILLS[standing]}"];`,
    ),
    ...edges.map(({ from, to }) => `  ${nodeOf(from)} -> ${nodeOf(to)};`),
    '}',
  ])
}

/** A name without the signs that both languages give a meaning. */
const nodeOf = (number: TaskNumber): string =>
  `T${String(number).replace(/[.-]/g, (sign) => (sign === '.' ? '_' : '__'))}`

const textOf = (lines: readonly string[]): string => `${lines.join('\n')}\n`

/** The tasks with those that they need and do not exist, and an arrow from each needed task to its dependant. */
function graphOf(states: readonly TaskState<DrawnTask>[]) {
  const nodes = new Map<TaskNumber, Pick<DrawnTask, 'number' | 'id' | 'title'> & { standing: StandingText }>()
  for (const state of states) nodes.set(state.task.number, { ...state.task, standing: standingOf(state) })
  for (const { number, id } of states.flatMap(({ task }) => task.depends))
    if (!nodes.has(number)) nodes.set(number, { number, id, title: 'does not exist', standing: 'unclear' })
  return { nodes: [...nodes.values()], edges: edgesOf(states) }
}

/** All arrows of the graph, by number. */
export function edgesOf(states: readonly TaskState<DrawnTask>[]) {
  return states.flatMap(({ task }) => task.needs.map((from) => ({ from, to: task.number })))
}

/** Escapes quotes, brackets and ticks, which Mermaid interprets, as it does `#…;`. */
function mermaidText(text: string): string {
  return printable(text).replace(/["#&<>`[\]{}|\\]/g, (sign) => `#${sign.charCodeAt(0)};`)
}

function dotText(text: string): string {
  return printable(text).replace(/["\\]/g, (sign) => `\\${sign}`)
}

type States = readonly TaskState<DrawnTask>[]

/** Which part of the graph to show. */
export interface GraphPart {
  /** Only this task with all its needs and dependants, at any distance; null for every task. */
  readonly around: TaskNumber | null
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
  const isSeen = (number: TaskNumber): boolean => left.has(number) || !known.has(number)
  return shown.map((state) => {
    const { task } = state
    const depends = task.depends.filter(({ number }) => isSeen(number))
    return { ...state, task: { ...task, depends, needs: task.needs.filter(isSeen) } }
  })
}

/** The task with all its needs and dependants, at any distance. */
function relatedTo(states: States, number: TaskNumber): ReadonlySet<TaskNumber> {
  const needs = new Map<TaskNumber, readonly TaskNumber[]>()
  const dependants = new Map<TaskNumber, TaskNumber[]>()
  for (const { task } of states) {
    needs.set(task.number, [...(needs.get(task.number) ?? []), ...task.needs])
    for (const needed of task.needs) dependants.set(needed, [...(dependants.get(needed) ?? []), task.number])
  }
  return new Set([...reachable(number, needs), ...reachable(number, dependants)])
}

function reachable(
  from: TaskNumber,
  edges: ReadonlyMap<TaskNumber, readonly TaskNumber[]>,
): ReadonlySet<TaskNumber> {
  const reached = new Set([from])
  for (const number of reached) for (const next of edges.get(number) ?? []) reached.add(next)
  return reached
}
