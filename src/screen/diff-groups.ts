import type { BacklogDiff, DiffItem } from '../history/backlog-diff.ts'
import type { FieldChange, TaskChange } from '../history/task-change.ts'
import type { TaskJson } from '../backlog/json.ts'
import { counted, shortened } from '../base/text.ts'
import { partOf } from './graph-part.ts'
import type { DrawnTask } from './graph-layers.ts'
import type { TaskState } from '../backlog/select/selection.ts'

/** Tasks with the same change, each with its details. */
export interface DiffGroup {
  readonly heading: string
  readonly items: readonly (DiffItem & { readonly details: readonly string[] })[]
}

/** The groups of a diff, in the order of interest, without empty ones. */
export function diffGroups(diff: BacklogDiff): readonly DiffGroup[] {
  const turned = new Set([...diff.completed, ...diff.blocked, ...diff.reopened].map(({ id }) => id))
  const groups: readonly DiffGroup[] = [
    { heading: 'Done', items: diff.completed.map((item) => ({ ...item, details: detailsOf(item.text) })) },
    { heading: 'Blocked', items: diff.blocked.map((item) => ({ ...item, details: detailsOf(item.text) })) },
    { heading: 'Open again', items: diff.reopened.map((item) => ({ ...item, details: [] })) },
    { heading: 'Added', items: diff.added.map((task) => ({ ...task, details: [addedText(task)] })) },
    {
      heading: 'Changed',
      items: diff.changed.flatMap((change) => {
        const details = changeTexts(change, turned.has(change.id))
        return details.length === 0 ? [] : [{ id: change.id, title: change.title, details }]
      }),
    },
    { heading: 'Removed', items: diff.removed.map((item) => ({ ...item, details: [] })) },
    { heading: 'Can be done now', items: diff.eligible.map((item) => ({ ...item, details: [] })) },
  ]
  return groups.filter(({ items }) => items.length > 0)
}

/** `2 done, 1 blocked, 3 added`; empty if nothing has changed. */
export function diffSummary(diff: BacklogDiff, groups: readonly DiffGroup[]): string {
  const counts: readonly (readonly [number, string])[] = [
    [diff.completed.length, 'done'],
    [diff.blocked.length, 'blocked'],
    [diff.reopened.length, 'open again'],
    [diff.added.length, 'added'],
    [groups.find(({ heading }) => heading === 'Changed')?.items.length ?? 0, 'changed'],
    [diff.removed.length, 'removed'],
    [diff.eligible.length, 'newly eligible'],
  ]
  const parts = counts.flatMap(([count, word]) => (count === 0 ? [] : [`${count} ${word}`]))
  const cycles = diff.cycles.length === 0 ? [] : [counted(diff.cycles.length, 'new cycle')]
  const problems = diff.problems.length === 0 ? [] : [counted(diff.problems.length, 'new problem')]
  return [...parts, ...cycles, ...problems].join(', ')
}

/** The tasks in a diff, and their needs. */
export function diffStates(diff: BacklogDiff): readonly TaskState<DrawnTask>[] {
  const named = [diff.added, diff.changed, diff.completed, diff.blocked, diff.eligible].flat()
  const ids = new Set([...named.map(({ id }) => id), ...diff.cycles.flat()])
  const { states } = diff.selection
  const own = states.filter(({ task }) => ids.has(task.id))
  const needed = new Set(own.flatMap(({ task }) => task.needs))
  return partOf(states, ({ task }) => ids.has(task.id) || needed.has(task.number))
}

function detailsOf(text: string): readonly string[] {
  return text === '' ? [] : [text]
}

function addedText({ status, depends, milestone, eligible }: TaskJson): string {
  const needs = depends.length === 0 ? [] : [`needs ${depends.join(', ')}`]
  const standing = eligible ? 'TODO, eligible' : (status ?? 'no clear status')
  return [standing, ...needs, ...(milestone === null ? [] : [milestone])].join(' · ')
}

/** The fields that ralph writes when it completes, blocks or opens a task. */
const OWN_FIELDS: ReadonlySet<string> = new Set(['Status', 'Completed', 'Commit', 'Cost'])
const OWN_SECTIONS: ReadonlySet<string> = new Set(['Completion Notes', 'Blocked', 'Previous Attempts'])

function changeTexts({ fields, sections }: TaskChange, isTurned: boolean): readonly string[] {
  const own = fields.filter(({ name }) => !isTurned || !OWN_FIELDS.has(name)).map(fieldText)
  const texts = sections.filter((name) => !isTurned || !OWN_SECTIONS.has(name))
  if (fields.length === 0 && sections.length === 0) return ['only the text around fields and sections']
  return [...own, ...(texts.length === 0 ? [] : [`text of ${texts.map(cut).join(', ')}`])]
}

function fieldText({ name, before, after }: FieldChange): string {
  return `${cut(name)}: ${cut(before ?? '–')} → ${cut(after ?? '–')}`
}

const LONGEST = 80

function cut(text: string): string {
  return shortened(text, LONGEST)
}
