import type { Task, TaskFacts } from './model.ts'

/** The facts of a task without its text. */
export function factsOf(task: Task): TaskFacts {
  const depends = task.depends.map(({ id, number }) => ({ id, number }))
  const fields = task.fields.filter(({ name }) => name === null)
  const { source: _source, bom: _bom, sections: _sections, ...facts } = { ...task, depends, fields }
  return detached(facts)
}

/** Copies the strings in a value: a part of a text would keep the whole text in memory. */
export function detached<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T
}
