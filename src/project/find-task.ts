import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { closest } from '../base/spelling.ts'
import { UserError } from '../base/errors.ts'
import { idInFileName } from '../backlog/file-name.ts'
import type { Task, TaskName } from '../backlog/model.ts'
import { readHeads, readTask } from '../backlog/read.ts'
import { numberOf } from '../backlog/values.ts'
import type { Place } from './project.ts'

/** The names of a place's task files; reads none of them. */
export async function taskNames(place: Place): Promise<readonly TaskName[]> {
  try {
    const { root, dir, moreDirs, isIgnored } = place
    const folders = [dir, ...moreDirs.filter((more) => existsSync(join(root, more)))]
    return folders.flatMap((folder) =>
      readdirSync(join(root, folder))
        .toSorted()
        .flatMap((name) => {
          const id = isIgnored?.(name) ? null : idInFileName(name)
          return id === null ? [] : [{ id, number: numberOf(id), file: `${folder}/${name}` }]
        }),
    )
  } catch {
    // Reading the tasks reports what is wrong with the folder.
    return (await readHeads(place)).tasks
  }
}

/** Reads the whole task that was meant, and no other. */
export async function readNamed(place: Place, typed: string): Promise<Task> {
  const { file } = findTask(await taskNames(place), typed)
  return readTask(place.root, file, place.vocabulary)
}

/** The task for `T-004`, `t-4` or `4`. */
export function findTask<T extends TaskName>(tasks: readonly T[], typed: string): T {
  const number = /^(?:t-)?0*(\d+)$/i.exec(typed.trim())?.[1]
  if (number === undefined) {
    throw new UserError(`'${typed}' is not a task`, 'A task is named by its id or number: T-004, t-4, 4.')
  }
  const found = tasks.filter((task) => String(task.number) === number)
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
