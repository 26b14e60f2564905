import type { FieldName, Status, Task, TaskHead } from '../task/model.ts'
import { idOf } from '../task/values.ts'
import { claimsOf, unfinishedOf, type Claims } from './claims.ts'
import { findCycles, type Cycle } from './cycles.ts'

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
export interface TaskState<T extends TaskHead = Task> {
  readonly task: T
  readonly eligible: boolean
  readonly waiting: readonly Reason[]
}

/** `stuck`: something is not DONE, and nothing is eligible. */
export type SelectionOutcome = 'ready' | 'all-done' | 'stuck' | 'empty'

/** The decision: which task is next, and why not the others. */
export interface Selection<T extends TaskHead = Task> {
  /** In number order. */
  readonly states: readonly TaskState<T>[]
  readonly eligible: readonly T[]
  /** The lowest-numbered eligible task. */
  readonly next: T | null
  readonly outcome: SelectionOutcome
  /** A task without a readable Status is in none of them. */
  readonly counts: Readonly<Record<Status, number>>
  readonly cycles: readonly Cycle<T>[]
}

/** Decides which tasks are eligible: TODO, every dependency DONE, no `## Blocked`, and nothing unclear about them. */
export function select<T extends TaskHead>(tasks: readonly T[]): Selection<T> {
  const claims = claimsOf(tasks)
  const { ordered } = claims
  const cycles = findCycles(ordered)
  const look = { claims, cycleOf: cycleByNumber(cycles) }
  const states: TaskState<T>[] = []
  const eligible: T[] = []
  for (const task of ordered) {
    const state = stateOf(task, look)
    states.push(state)
    if (state.eligible) eligible.push(task)
  }
  const counts = countByStatus(ordered)
  const next = eligible[0] ?? null
  return { states, eligible, next, outcome: outcomeOf(ordered.length, counts, next), counts, cycles }
}

/** The task that is next, or null where none is eligible. */
export function selectNext<T extends TaskHead>(tasks: readonly T[]): T | null {
  return select(tasks).next
}

/** The tasks that become eligible once this one is DONE, in number order. */
export function unblocks<T extends TaskHead>(selection: Selection<T>, id: string): T[] {
  const waitsForNothingElse = ({ task, waiting }: TaskState<T>): boolean =>
    task.status === 'TODO' &&
    waiting.length === 1 &&
    waiting[0]!.kind === 'dependency' &&
    waiting[0]!.id === id
  const claims = selection.states.filter((state) => state.task.id === id)
  if (claims.length !== 1 || claims[0]!.waiting.some((reason) => reason.kind === 'duplicate')) return []
  return selection.states.filter(waitsForNothingElse).map((state) => state.task)
}

/** The tasks that need one of this number, in number order. */
export function dependantsOf<T extends TaskHead>(
  { states }: Selection<T>,
  number: number,
): readonly TaskState<T>[] {
  return states.filter(({ task }) => task.needs.includes(number))
}

interface Look<T extends TaskHead> {
  readonly claims: Claims<T>
  readonly cycleOf: ReadonlyMap<number, Cycle<T>>
}

function cycleByNumber<T extends TaskHead>(cycles: readonly Cycle<T>[]): ReadonlyMap<number, Cycle<T>> {
  return new Map(cycles.flatMap((cycle) => cycle.tasks.map((task) => [task.number, cycle] as const)))
}

const NOTHING: readonly Reason[] = []

function stateOf<T extends TaskHead>(task: T, look: Look<T>): TaskState<T> {
  const { status, needs, problems, held, number } = task
  if (status === 'DONE' || status === 'BLOCKED') return { task, eligible: false, waiting: NOTHING }
  const { claims, cycleOf } = look
  const isClear = problems.length === 0 && !held && !claims.rivals.has(number) && !cycleOf.has(number)
  let waiting = isClear ? NOTHING : ownReasons(task, look)
  for (const need of needs) {
    const unfinished = unfinishedOf(need, claims)
    if (unfinished === null) continue
    const reason = dependencyReason(need, unfinished, task, look)
    // Most that wait, wait for one thing: a list that grows would be the most of the work.
    if (reason) waiting = waiting === NOTHING ? [reason] : [...waiting, reason]
  }
  return { task, eligible: status === 'TODO' && waiting === NOTHING, waiting }
}

function ownReasons<T extends TaskHead>(task: T, { claims, cycleOf }: Look<T>): readonly Reason[] {
  const rivals = claims.rivals.get(task.number)
  const cycle = cycleOf.get(task.number)
  return [
    ...task.problems.map(({ field, line, message }): Reason => ({ kind: 'invalid', field, line, message })),
    ...(rivals ? [{ kind: 'duplicate', files: rivals.files } as const] : []),
    ...(task.held ? [{ kind: 'blocked-section' } as const] : []),
    ...(cycle ? [{ kind: 'cycle', ids: cycle.ids } as const] : []),
  ]
}

function dependencyReason<T extends TaskHead>(
  number: number,
  unfinished: T | 'missing',
  task: T,
  { cycleOf }: Look<T>,
): Reason | null {
  if (unfinished === 'missing') return { kind: 'missing', id: idOf(number, task.id.length - 2) }
  // That the members of a cycle wait for each other is said once, by the cycle.
  const cycle = cycleOf.get(number)
  if (cycle && cycle === cycleOf.get(task.number)) return null
  return { kind: 'dependency', id: unfinished.id, status: unfinished.status }
}

/** How many of some tasks have each Status; one without a readable one is in none of them. */
export function countByStatus(tasks: Iterable<TaskHead>): Record<Status, number> {
  const counts = { TODO: 0, DONE: 0, BLOCKED: 0 }
  for (const { status } of tasks) {
    // By name, each on its own: to look a name up in the object would cost several times as much.
    if (status === 'TODO') counts.TODO++
    else if (status === 'DONE') counts.DONE++
    else if (status === 'BLOCKED') counts.BLOCKED++
  }
  return counts
}

function outcomeOf(total: number, counts: Record<Status, number>, next: TaskHead | null): SelectionOutcome {
  if (total === 0) return 'empty'
  if (next) return 'ready'
  return counts.DONE === total ? 'all-done' : 'stuck'
}
