import type { Task } from '../task/model.ts'
import { keyOf } from './documents.ts'
import type { Draft } from './drafts.ts'
import { digestOf, type Plan, type PlannedTask } from './plan-file.ts'

/** What a plan does to the backlog. */
export interface Changes {
  readonly add: readonly Draft[]
  readonly change: readonly {
    readonly draft: Draft
    readonly before: Task
    readonly parts: readonly string[]
  }[]
  readonly drop: readonly Task[]
  /** Tasks of the plan that are not its to change any more, and why. */
  readonly stay: readonly Staying[]
}

/** A task that stays as it is. */
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

/** Tells them apart: what is DONE, blocked, or edited by hand stays. */
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

/** What drafts do to the tasks that the plan has written. */
export function changesOf(drafts: readonly Draft[], { open, stay }: Written): Changes {
  const before = new Map(open.map(({ key, task }) => [keyOf(key), task]))
  const kept = new Set(drafts.map(({ key }) => keyOf(key)))
  return {
    add: drafts.filter(({ key }) => !before.has(keyOf(key))),
    change: drafts.flatMap((draft) => {
      const task = before.get(keyOf(draft.key))
      return task && task.source !== draft.text
        ? [{ draft, before: task, parts: partsChanged(task, draft.task) }]
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

/** The fields and sections in which two texts of a task differ. */
function partsChanged(before: Task, after: Task): readonly string[] {
  const title = before.title === after.title ? [] : ['Title']
  const values = (task: Task): ReadonlyMap<string, string> =>
    new Map([
      ...task.fields.map(({ key, value }) => [key, value] as const),
      ...task.sections.map(
        ({ title: name, bodySpan }) =>
          [name, task.source.slice(bodySpan.start, bodySpan.end).trim()] as const,
      ),
    ])
  const [old, now] = [values(before), values(after)]
  const names = new Set([...old.keys(), ...now.keys()])
  return [...title, ...[...names].filter((name) => old.get(name) !== now.get(name))]
}

/** The same as JSON tells it. */
export function changesJson({ add, change, drop, stay }: Changes): object {
  return {
    add: add.map(({ id, file, task }) => ({ id, file, title: task.title })),
    change: change.map(({ draft, parts }) => ({
      id: draft.id,
      file: draft.file,
      title: draft.task.title,
      parts,
    })),
    drop: drop.map(({ id, file, title }) => ({ id, file, title })),
    stay: stay.map(({ task, why }) => ({ id: task.id, file: task.file, title: task.title, why })),
  }
}
