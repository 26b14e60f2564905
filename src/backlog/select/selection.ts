import type { FieldName, Status, Task, TaskHead } from '../model.ts'
import { idLike, partsOf, type TaskNumber } from '../ids.ts'
import { claimsOf, unfinishedOf, type Claims } from './claims.ts'
import { findCycles, type Cycle } from './cycles.ts'

/** Why a task is not eligible, as in the JSON of `ralph next --json`. */
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

/** A task and the reasons why it is not eligible: none for an eligible one, nor for one that is DONE or BLOCKED. */
export interface TaskState<T extends TaskHead = Task> {
  readonly task: T
  readonly eligible: boolean
  readonly waiting: readonly Reason[]
}

/** `stuck`: tasks are left, and none is eligible. */
export type SelectionOutcome = 'ready' | 'all-done' | 'stuck' | 'empty'

/** The decision: the next task, and why the others are not. */
export interface Selection<T extends TaskHead = Task> {
  /** In number order. */
  readonly states: readonly TaskState<T>[]
  readonly eligible: readonly T[]
  /** The lowest-numbered eligible task. */
  readonly next: T | null
  readonly outcome: SelectionOutcome
  /** Tasks without a readable Status are not counted. */
  readonly counts: Readonly<Record<Status, number>>
  readonly cycles: readonly Cycle<T>[]
}

/** Decides which tasks are eligible: TODO, every dependency DONE, no `## Blocked`, and nothing unclear about them. */
export function select<T extends TaskHead>(tasks: readonly T[]): Selection<T> {
  const claims = claimsOf(tasks)
  const { ordered } = claims
  const cycles = findCycles(ordered)
  const context = { claims, cycleOf: cycleByNumber(cycles) }
  const states: TaskState<T>[] = []
  const eligible: T[] = []
  for (const task of ordered) {
    const state = stateOf(task, context)
    states.push(state)
    if (state.eligible) eligible.push(task)
  }
  const counts = countByStatus(ordered)
  const next = eligible[0] ?? null
  return { states, eligible, next, outcome: outcomeOf(ordered.length, counts, next), counts, cycles }
}

/** The task that is next, or null if none is eligible. */
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
  number: TaskNumber,
): readonly TaskState<T>[] {
  return states.filter(({ task }) => task.needs.includes(number))
}

interface Context<T extends TaskHead> {
  readonly claims: Claims<T>
  readonly cycleOf: ReadonlyMap<TaskNumber, Cycle<T>>
}

function cycleByNumber<T extends TaskHead>(cycles: readonly Cycle<T>[]): ReadonlyMap<TaskNumber, Cycle<T>> {
  return new Map(cycles.flatMap((cycle) => cycle.tasks.map((task) => [task.number, cycle] as const)))
}

const NOTHING: readonly Reason[] = []

function stateOf<T extends TaskHead>(task: T, context: Context<T>): TaskState<T> {
  const { status, needs, problems, held, number } = task
  if (status === 'DONE' || status === 'BLOCKED') return { task, eligible: false, waiting: NOTHING }
  const { claims, cycleOf } = context
  const isClear = problems.length === 0 && !held && !claims.rivals.has(number) && !cycleOf.has(number)
  let waiting = isClear ? NOTHING : ownReasons(task, context)
  let found: Reason[] | null = null
  for (const need of needs) {
    const unfinished = unfinishedOf(need, claims)
    if (unfinished === null) continue
    const reason = dependencyReason(need, unfinished, task, context)
    if (reason === null) continue
    // Most tasks wait for nothing, so only the first reason makes an array.
    if (found) found.push(reason)
    else waiting = found = [...waiting, reason]
  }
  return { task, eligible: status === 'TODO' && waiting === NOTHING, waiting }
}

function ownReasons<T extends TaskHead>(task: T, { claims, cycleOf }: Context<T>): readonly Reason[] {
  const rivals = claims.rivals.get(task.number)
  const cycle = cycleOf.get(task.number)
  return [
    ...task.problems.map(({ field, line, message }): Reason => ({ kind: 'invalid', field, line, message })),
    ...(rivals ? [{ kind: 'duplicate', files: rivals.map(({ file }) => file) } as const] : []),
    ...(task.held ? [{ kind: 'blocked-section' } as const] : []),
    ...(cycle ? [{ kind: 'cycle', ids: cycle.ids } as const] : []),
  ]
}

function dependencyReason<T extends TaskHead>(
  number: TaskNumber,
  unfinished: T | 'missing',
  task: T,
  { claims, cycleOf }: Context<T>,
): Reason | null {
  if (unfinished === 'missing') return { kind: 'missing', id: missingId(number, task, claims) }
  // That members of a cycle wait for each other is reported once, by the cycle.
  const cycle = cycleOf.get(number)
  if (cycle && cycle === cycleOf.get(task.number)) return null
  return { kind: 'dependency', id: unfinished.id, status: unfinished.status }
}

/** The id that a missing task would have: like that of a task of its pattern. */
function missingId<T extends TaskHead>(number: TaskNumber, task: T, { ordered }: Claims<T>): string {
  const { place } = partsOf(number)
  const isLike = (one: T): boolean => partsOf(one.number).place === place
  return idLike((isLike(task) ? task : (ordered.find(isLike) ?? task)).id, number)
}

/** The number of tasks by Status; those without a readable one are not counted. */
export function countByStatus(tasks: Iterable<TaskHead>): Record<Status, number> {
  const counts = { TODO: 0, DONE: 0, BLOCKED: 0 }
  for (const { status } of tasks) {
    // One comparison for each, as a lookup by name in the object is several times slower.
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
