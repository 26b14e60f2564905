import type { Task, TaskFacts } from './model.ts'

/** The facts of a task that was read whole, apart from its text. */
export function factsOf({ source: _, bom: __, sections: ___, ...facts }: Task): TaskFacts {
  const depends = facts.depends.map(({ id, number }) => ({ id, number }))
  const fields = facts.fields.filter(({ name }) => name === null)
  return detached({ ...facts, depends, fields })
}

/** The same in strings of their own: a part of a text keeps the whole text in memory. */
export function detached<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T
}
