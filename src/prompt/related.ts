import type { Task } from '../backlog/model.ts'
import { inOrder } from '../backlog/order.ts'

/** The tasks of a backlog that a task's prompt mentions. */
interface Related {
  /** The finished tasks that it depends on, in the order of the field. */
  readonly prerequisites: readonly Task[]
  /** All tasks of its milestone, including itself, by number. */
  readonly milestone: readonly Task[]
}

/** Finds them; the order of the backlog does not matter. */
export function relatedTasks(task: Task, backlog: readonly Task[]): Related {
  const done = new Map<number, Task>()
  for (const other of inOrder(backlog)) {
    if (other.status === 'DONE' && !done.has(other.number)) done.set(other.number, other)
  }
  const wanted = [...new Set(task.depends.map((dependency) => dependency.number))]
  return {
    prerequisites: wanted.flatMap((number) => done.get(number) ?? []),
    milestone: milestoneOf(task, backlog),
  }
}

function milestoneOf(task: Task, backlog: readonly Task[]): readonly Task[] {
  if (task.milestone === null) return []
  return inOrder(backlog.filter((other) => other.milestone === task.milestone))
}
