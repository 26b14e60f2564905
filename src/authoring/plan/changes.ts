import type { Task } from '../../backlog/model.ts'
import { keyOf } from './documents.ts'
import type { PlanDraft } from './drafts.ts'
import { digestOf, type Plan } from './plan-file.ts'

/** A task that a plan has written. */
export interface WrittenTask {
  readonly key: string
  readonly task: Task
  /** Why the plan may not change it any more: it is DONE, blocked or edited by hand; null if it may. */
  readonly stays: string | null
}

/** The tasks that a plan has written, without those that are gone. */
export function writtenTasks(
  { tasks }: Pick<Plan, 'tasks'>,
  backlog: readonly Task[],
): readonly WrittenTask[] {
  return tasks.flatMap(({ id, key, digest }) => {
    const task = backlog.find((one) => one.id === id)
    if (!task) return []
    const edited = digestOf(task.source) === digest ? null : 'edited by hand'
    return [{ key, task, stays: task.status === 'TODO' ? edited : (task.status ?? 'unclear') }]
  })
}

/** The changes of a plan to the backlog. */
export type Changes = ReturnType<typeof changesOf>

/** The changes by these drafts to the tasks that the plan has written. */
export function changesOf(
  drafts: readonly PlanDraft[],
  { open, stay }: { open: readonly WrittenTask[]; stay: readonly WrittenTask[] },
) {
  const before = new Map(open.map(({ key, task }) => [keyOf(key), task]))
  const kept = new Set(drafts.map(({ key }) => keyOf(key)))
  return {
    add: drafts.filter(({ key }) => !before.has(keyOf(key))),
    change: drafts.flatMap((draft) => {
      const task = before.get(keyOf(draft.key))
      return task && task.source !== draft.text ? [{ draft, ...partsChanged(task, draft.task) }] : []
    }),
    drop: open.flatMap(({ key, task }) => (kept.has(keyOf(key)) ? [] : [task])),
    stay,
  }
}

/** Whether nothing would be written. */
export function isNothing({ add, change, drop }: Changes): boolean {
  return add.length + change.length + drop.length === 0
}

/** The differences between two texts of a task: fields with old and new values, sections by name. */
function partsChanged(before: Task, after: Task) {
  const values = ({ title, fields }: Task): ReadonlyMap<string, string> =>
    new Map([['Title', title], ...fields.map(({ key, value }) => [key, value] as const)])
  const bodies = ({ sections, source }: Task): ReadonlyMap<string, string> =>
    new Map(sections.map(({ title, bodySpan }) => [title, source.slice(bodySpan.start, bodySpan.end).trim()]))
  return {
    fields: differences(values(before), values(after)),
    sections: differences(bodies(before), bodies(after)).map(({ name }) => name),
  }
}

function differences(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>) {
  const names = new Set([...before.keys(), ...after.keys()])
  return [...names]
    .filter((name) => before.get(name) !== after.get(name))
    .map((name) => ({ name, before: before.get(name) ?? null, after: after.get(name) ?? null }))
}

/** The same as JSON. */
export function changesJson({ add, change, drop, stay }: Changes): object {
  const named = ({ id, file, title }: Task): object => ({ id, file, title })
  return {
    add: add.map(({ task }) => named(task)),
    change: change.map(({ draft, fields, sections }) => ({ ...named(draft.task), fields, sections })),
    drop: drop.map(named),
    stay: stay.map(({ task, stays }) => ({ ...named(task), why: stays })),
  }
}
