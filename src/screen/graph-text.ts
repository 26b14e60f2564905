import type { TaskState } from '../backlog/select/selection.ts'
import type { DrawnTask } from './graph-layers.ts'
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
  const nodes = states.map((state) => {
    const { task } = state
    return `  T${task.number}["${mermaidText(`${task.id}: ${task.title}`)}"]:::${standingOf(state)}`
  })
  const missing = missingOf(states).map(({ id, number }) => `  T${number}["${id}: does not exist"]:::unclear`)
  const edges = edgesOf(states).map(({ from, to }) => `  T${from} --> T${to}`)
  const classes = Object.entries(FILLS).map(
    ([standing, fill]) => `  classDef ${standing} fill:${fill},color:#111`,
  )
  return `${['graph TD', ...nodes, ...missing, ...edges, ...classes].join('\n')}\n`
}

/** The dependencies in Graphviz's language. */
export function dotOf(states: readonly TaskState<DrawnTask>[]): string {
  const nodes = states.map((state) => {
    const { task } = state
    const label = `${dotText(task.id)}\\n${dotText(task.title)}`
    return `  T${task.number} [label="${label}", fillcolor="${FILLS[standingOf(state)]}"];`
  })
  const missing = missingOf(states).map(
    ({ id, number }) =>
      `  T${number} [label="${dotText(id)}\\ndoes not exist", fillcolor="${FILLS.unclear}"];`,
  )
  const edges = edgesOf(states).map(({ from, to }) => `  T${from} -> T${to};`)
  const head = ['digraph tasks {', '  rankdir=LR;', '  node [shape=box, style="rounded,filled"];']
  return `${[...head, ...nodes, ...missing, ...edges, '}'].join('\n')}\n`
}

/** An arrow from a needed task to its dependant, by number. */
interface Edge {
  readonly from: number
  readonly to: number
}

/** All arrows of the graph, each once. */
export function edgesOf(states: readonly TaskState<DrawnTask>[]): readonly Edge[] {
  return states.flatMap(({ task }) => task.needs.map((from) => ({ from, to: task.number })))
}

function missingOf(states: readonly TaskState<DrawnTask>[]): readonly { id: string; number: number }[] {
  const known = new Set(states.map(({ task }) => task.number))
  const missing = states.flatMap(({ task }) => task.depends.filter(({ number }) => !known.has(number)))
  return [...new Map(missing.map(({ id, number }) => [number, { id, number }])).values()]
}

/** Escapes quotes, brackets and ticks, which Mermaid interprets, as it does `#…;`. */
function mermaidText(text: string): string {
  return printable(text).replace(/["#&<>`[\]{}|\\]/g, (sign) => `#${sign.charCodeAt(0)};`)
}

function dotText(text: string): string {
  return printable(text).replace(/["\\]/g, (sign) => `\\${sign}`)
}
