import type { Task } from '../task/model.ts'
import { inOrder } from '../task/order.ts'

/** The tasks of a backlog that the prompt of one of them speaks of. */
interface Related {
  /** The finished ones among those that it depends on, in the order in which it names them. */
  readonly prerequisites: readonly Task[]
  /** All that share its milestone, itself too, in the order of their numbers. */
  readonly milestone: readonly Task[]
}

/** Finds them; the order in which the backlog was read makes no difference. */
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
