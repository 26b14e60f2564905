import { placesIn } from '../base/places.ts'
import { sectionOf, type FieldName, type Status, type Task } from '../task/model.ts'
import { findCycles, type Cycle } from './cycles.ts'
import { graphOf, inOrder, type Graph, type Node } from './graph.ts'

/** Why a task is not eligible, in the words of the JSON that `ralph next --json` prints. */
export type Reason =
  | { readonly kind: 'dependency'; readonly id: string; readonly status: Status | null }
  | { readonly kind: 'missing'; readonly id: string }
  | { readonly kind: 'cycle'; readonly ids: readonly string[] }
  | { readonly kind: 'blocked-section' }
  | {
      readonly kind: 'invalid'
      readonly field: FieldName | null
      readonly line: number
      readonly message: string
    }
  | { readonly kind: 'duplicate'; readonly files: readonly string[] }

/** A task and what keeps it from being eligible: nothing for one that is, nor for one that is DONE or BLOCKED. */
export interface TaskState {
  readonly task: Task
  readonly eligible: boolean
  readonly waiting: readonly Reason[]
}

/** `stuck`: something is not DONE, and nothing is eligible. */
export type SelectionOutcome = 'ready' | 'all-done' | 'stuck' | 'empty'

/** The decision: which task is next, and why not the others. */
export interface Selection {
  /** In number order. */
  readonly states: readonly TaskState[]
  readonly eligible: readonly Task[]
  /** The lowest-numbered eligible task. */
  readonly next: Task | null
  readonly outcome: SelectionOutcome
  /** A task without a readable Status is in none of them. */
  readonly counts: Readonly<Record<Status, number>>
  readonly cycles: readonly Cycle[]
}

/** Decides which tasks are eligible: TODO, every dependency DONE, no `## Blocked`, and nothing unclear about them. */
export function select(tasks: readonly Task[]): Selection {
  const ordered = inOrder(tasks)
  const graph = graphOf(ordered)
  const cycles = findCycles(graph)
  const look = { graph, cycleOf: cycleByTask(cycles, graph) }
  const states = ordered.map((task) => stateOf(task, look))
  const eligible = states.filter((state) => state.eligible).map((state) => state.task)
  const counts = countByStatus(ordered)
  const next = eligible[0] ?? null
  return { states, eligible, next, outcome: outcomeOf(ordered.length, counts, next), counts, cycles }
}

/** The tasks that become eligible once this one is DONE, in number order. */
export function unblocks(selection: Selection, id: string): Task[] {
  const waitsForNothingElse = ({ task, waiting }: TaskState): boolean =>
    task.status === 'TODO' &&
    waiting.length === 1 &&
    waiting[0]!.kind === 'dependency' &&
    waiting[0]!.id === id
  const claims = selection.states.filter((state) => state.task.id === id)
  if (claims.length !== 1 || claims[0]!.waiting.some((reason) => reason.kind === 'duplicate')) return []
  return selection.states.filter(waitsForNothingElse).map((state) => state.task)
}

interface Look {
  readonly graph: Graph
  readonly cycleOf: ReadonlyMap<Node, Cycle>
}

function cycleByTask(cycles: readonly Cycle[], graph: Graph): ReadonlyMap<Node, Cycle> {
  const cycleOf = new Map<Node, Cycle>()
  for (const cycle of cycles) {
    for (const task of cycle.tasks) cycleOf.set(graph.nodeOf.get(task.number)!, cycle)
  }
  return cycleOf
}

function stateOf(task: Task, look: Look): TaskState {
  if (task.status === 'DONE' || task.status === 'BLOCKED') return { task, eligible: false, waiting: [] }
  const waiting = [...ownReasons(task, look), ...dependencyReasons(task, look)]
  return { task, eligible: task.status === 'TODO' && waiting.length === 0, waiting }
}

function ownReasons(task: Task, { graph, cycleOf }: Look): Reason[] {
  const node = graph.nodeOf.get(task.number)!
  const reasons = task.problems.length > 0 ? invalidReasons(task) : []
  if (node.tasks.length > 1) reasons.push({ kind: 'duplicate', files: node.tasks.map(({ file }) => file) })
  if (sectionOf(task, 'Blocked')) reasons.push({ kind: 'blocked-section' })
  const cycle = cycleOf.get(node)
  if (cycle) reasons.push({ kind: 'cycle', ids: cycle.ids })
  return reasons
}

function invalidReasons(task: Task): Reason[] {
  const placeOf = placesIn(task.source)
  return task.problems.map(({ field, span, message }) => ({
    kind: 'invalid',
    field,
    line: placeOf(span.start).line,
    message,
  }))
}

function dependencyReasons(task: Task, { graph, cycleOf }: Look): Reason[] {
  if (task.depends.length === 0) return []
  const ownCycle = cycleOf.get(graph.nodeOf.get(task.number)!)
  const reasons = new Map<number, Reason>()
  for (const { id, number } of task.depends) {
    const node = graph.nodeOf.get(number)
    if (!node) {
      reasons.set(number, { kind: 'missing', id })
      continue
    }
    // That the members of a cycle wait for each other is said once, by the cycle.
    if (ownCycle && cycleOf.get(node) === ownCycle) continue
    const unfinished = node.tasks.find((needed) => needed.status !== 'DONE')
    if (unfinished) {
      reasons.set(number, { kind: 'dependency', id: unfinished.id, status: unfinished.status })
    }
  }
  return [...reasons.values()]
}

function countByStatus(tasks: readonly Task[]): Record<Status, number> {
  const counts = { TODO: 0, DONE: 0, BLOCKED: 0 }
  for (const { status } of tasks) if (status) counts[status]++
  return counts
}

function outcomeOf(total: number, counts: Record<Status, number>, next: Task | null): SelectionOutcome {
  if (total === 0) return 'empty'
  if (next) return 'ready'
  return counts.DONE === total ? 'all-done' : 'stuck'
}
