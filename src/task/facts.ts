import type { Task, TaskFacts, TaskHead } from './model.ts'

/** What selection needs of a task, alone. */
export function headOf({ id, number, file, status, needs, held, problems }: TaskHead): TaskHead {
  return { id, number, file, status, needs, held, problems }
}

/** The facts of a task that was read whole, apart from its text. */
export function factsOf(task: Task): TaskFacts {
  const depends = task.depends.map(({ id, number }) => ({ id, number }))
  const fields = task.fields.filter(({ name }) => name === null)
  const { source: _source, bom: _bom, sections: _sections, ...facts } = { ...task, depends, fields }
  return detached(facts)
}

/** The same in strings of their own: a part of a text keeps the whole text in memory. */
export function detached<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T
}
