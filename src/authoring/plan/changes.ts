import type { Task } from '../../backlog/model.ts'
import { keyOf } from './documents.ts'
import type { PlanDraft } from './drafts.ts'
import { digestOf, type Plan, type PlannedTask } from './plan-file.ts'

/** The changes of a plan to the backlog. */
export interface Changes {
  readonly add: readonly PlanDraft[]
  readonly change: readonly ChangedTask[]
  readonly drop: readonly Task[]
  /** Tasks of the plan that it may not change any more, and why. */
  readonly stay: readonly Staying[]
}

/** A task whose content changes. */
interface ChangedTask {
  readonly draft: PlanDraft
  readonly before: Task
  readonly fields: readonly {
    readonly name: string
    readonly before: string | null
    readonly after: string | null
  }[]
  readonly sections: readonly string[]
}

/** A task that stays unchanged. */
export interface Staying {
  readonly key: string
  readonly task: Task
  readonly why: string
}

/** The tasks that a plan has written: those that it may still change, and those that stay. */
export interface Written {
  readonly open: readonly { readonly key: string; readonly task: Task }[]
  readonly stay: readonly Staying[]
}

/** Sorts the plan's tasks: those that are DONE, blocked or edited by hand stay. */
export function writtenTasks({ tasks }: Pick<Plan, 'tasks'>, backlog: readonly Task[]): Written {
  const open: { key: string; task: Task }[] = []
  const stay: Staying[] = []
  for (const planned of tasks) {
    const task = backlog.find(({ id }) => id === planned.id)
    if (!task) continue
    const why = whyItStays(planned, task)
    if (why === null) open.push({ key: planned.key, task })
    else stay.push({ key: planned.key, task, why })
  }
  return { open, stay }
}

function whyItStays({ digest }: PlannedTask, task: Task): string | null {
  if (task.status !== 'TODO') return task.status ?? 'unclear'
  return digestOf(task.source) === digest ? null : 'edited by hand'
}

/** The changes by these drafts to the tasks that the plan has written. */
export function changesOf(drafts: readonly PlanDraft[], { open, stay }: Written): Changes {
  const before = new Map(open.map(({ key, task }) => [keyOf(key), task]))
  const kept = new Set(drafts.map(({ key }) => keyOf(key)))
  return {
    add: drafts.filter(({ key }) => !before.has(keyOf(key))),
    change: drafts.flatMap((draft) => {
      const task = before.get(keyOf(draft.key))
      return task && task.source !== draft.text
        ? [{ draft, before: task, ...partsChanged(task, draft.task) }]
        : []
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
function partsChanged(before: Task, after: Task): Pick<ChangedTask, 'fields' | 'sections'> {
  const values = ({ title, fields }: Task): ReadonlyMap<string, string> =>
    new Map([['Title', title], ...fields.map(({ key, value }) => [key, value] as const)])
  const bodies = ({ sections, source }: Task): ReadonlyMap<string, string> =>
    new Map(sections.map(({ title, bodySpan }) => [title, source.slice(bodySpan.start, bodySpan.end).trim()]))
  return {
    fields: differences(values(before), values(after)),
    sections: differences(bodies(before), bodies(after)).map(({ name }) => name),
  }
}

function differences(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): ChangedTask['fields'] {
  const names = new Set([...before.keys(), ...after.keys()])
  return [...names]
    .filter((name) => before.get(name) !== after.get(name))
    .map((name) => ({ name, before: before.get(name) ?? null, after: after.get(name) ?? null }))
}

/** The same as JSON. */
export function changesJson({ add, change, drop, stay }: Changes): object {
  return {
    add: add.map(({ id, file, task }) => ({ id, file, title: task.title })),
    change: change.map(({ draft, fields, sections }) => ({
      id: draft.id,
      file: draft.file,
      title: draft.task.title,
      fields,
      sections,
    })),
    drop: drop.map(({ id, file, title }) => ({ id, file, title })),
    stay: stay.map(({ task, why }) => ({ id: task.id, file: task.file, title: task.title, why })),
  }
}
