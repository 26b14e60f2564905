import type { TaskState } from '../../backlog/select/selection.ts'
import { whyNot } from '../../backlog/select/why-not.ts'
import type { Facts } from '../../backlog/model.ts'

/** A task of the full screen's list, as its file describes it. */
export interface BoardTask extends Pick<
  Facts<'title' | 'milestone'>,
  'id' | 'title' | 'file' | 'milestone' | 'status'
> {
  /** What it waits for, in a few words; empty if it waits for nothing. */
  readonly waits: string
}

/** The tasks of the files, in order. */
export function boardOf(states: readonly TaskState<Facts<'title' | 'milestone'>>[]): readonly BoardTask[] {
  return states.map((state) => ({ ...state.task, waits: waitsOf(state) }))
}

function waitsOf(state: TaskState<Facts<'title' | 'milestone'>>): string {
  if (state.task.status !== 'TODO' && state.task.status !== null) return ''
  const needs = state.waiting.flatMap((reason) => (reason.kind === 'dependency' ? [reason.id] : []))
  if (needs.length > 0) return needs.length > 1 ? `${needs[0]} +${needs.length - 1}` : (needs[0] ?? '')
  return whyNot(state, 'see its file')[0] ?? ''
}

/** A row of the list of tasks. */
export type TreeRow =
  | { readonly kind: 'run' }
  | { readonly kind: 'milestone'; readonly name: string; readonly done: number; readonly all: number }
  | { readonly kind: 'task'; readonly task: BoardTask }

/** The rows: the run itself, then the filtered tasks by milestone. `isDone` knows of done tasks before their files do. */
export function treeOf(
  tasks: readonly BoardTask[],
  filter: string,
  isDone: (task: BoardTask) => boolean,
): readonly TreeRow[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean)
  const groups = new Map<string | null, { done: number; all: number; shown: BoardTask[] }>()
  for (const task of tasks) {
    let group = groups.get(task.milestone)
    if (!group) groups.set(task.milestone, (group = { done: 0, all: 0, shown: [] }))
    group.all++
    if (isDone(task)) group.done++
    if (words.length === 0 || matches(task, words)) group.shown.push(task)
  }
  const isPlain = groups.size === 1 && groups.has(null)
  const rows: TreeRow[] = filter === '' ? [{ kind: 'run' }] : []
  for (const [milestone, { done, all, shown }] of groups) {
    if (shown.length === 0) continue
    if (!isPlain) rows.push({ kind: 'milestone', name: milestone ?? 'No milestone', done, all })
    for (const task of shown) rows.push({ kind: 'task', task })
  }
  return rows
}

function matches({ id, title, milestone, status }: BoardTask, words: readonly string[]): boolean {
  const text = `${id} ${title} ${milestone ?? ''} ${status ?? ''}`.toLowerCase()
  return words.every((word) => text.includes(word))
}
