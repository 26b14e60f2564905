import { closest } from '../base/spelling.ts'
import { UserError } from '../base/errors.ts'
import { readId } from '../backlog/ids.ts'
import type { Task, TaskName } from '../backlog/model.ts'
import { readTask, taskNames } from '../backlog/read.ts'
import type { Place } from './project.ts'

/** Reads the whole task that was meant, and no other. */
export function readNamed(place: Place, typed: string): Promise<Task> {
  const { file } = findTask(taskNames(place), typed)
  return readTask(place.root, file, place.vocabulary)
}

/** The task for `T-004`, `t-4` or `4`. */
export function findTask<T extends TaskName>(tasks: readonly T[], typed: string): T {
  const meant = readId(typed.trim())
  if (meant === null)
    throw new UserError(`'${typed}' is not a task`, 'A task is named by its id or number: T-004, t-4, 4.')
  const named = tasks.flatMap((task) => {
    const { prefix, number } = readId(task.id) ?? meant
    const isExact = prefix === meant.prefix
    return number === meant.number && (isExact || meant.prefix === '') ? [{ task, isExact }] : []
  })
  const exact = named.filter(({ isExact }) => isExact)
  const found = (exact.length > 0 ? exact : named).map(({ task }) => task)
  if (found.length > 1) {
    throw new UserError(
      `${found[0]!.id} is the number of ${found.length} files: ${found.map((task) => task.file).join(', ')}`,
      'Give one of them another number.',
    )
  }
  return found[0] ?? refuse(tasks, typed)
}

function refuse(tasks: readonly TaskName[], typed: string): never {
  const near = closest(
    typed,
    tasks.map((task) => task.id),
  )
  throw new UserError(
    `there is no task ${typed}`,
    near ? `Did you mean ${near}? ralph list shows them all.` : 'ralph list shows them all.',
  )
}
