import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf, UserError } from '../base/errors.ts'
import { whyOutside } from '../base/paths.ts'
import { type Draft, draftWriter } from '../backlog/draft.ts'
import { isMilestone } from '../backlog/milestone.ts'
import type { Task, TaskName } from '../backlog/model.ts'
import { fileIn } from '../backlog/task-folders.ts'
import { idOf } from '../backlog/values.ts'
import { notWritten } from './not-written.ts'
import type { Place } from '../config/project.ts'

/** Where a new task is written, the existing tasks, and the highest number in use anywhere. */
type NewTaskPlace = Pick<Place, 'root' | 'folders' | 'vocabulary'> & {
  readonly tasks: readonly Task[]
  readonly highest: number
}

// A file with more digits is not read as a task.
const LONGEST_ID = 'T-'.length + 12

/** A new task's file, not written yet. */
interface ComposedTask {
  readonly id: string
  readonly file: string
  readonly text: string
}

/** Composes the file of a new task for each number that is asked for. */
export function composeTask(
  { folders, tasks, vocabulary }: Omit<NewTaskPlace, 'root' | 'highest'>,
  draft: Draft,
): (number: number) => ComposedTask {
  const digits = idDigits(tasks)
  const textOf = draftWriter(tasks, vocabulary)
  return (number) => {
    const id = idOf(number, digits)
    if (id.length > LONGEST_ID)
      throw new UserError(`${id} would be too long an id`, 'Give the highest task a smaller number.')
    const file = fileIn(folders.first, `${id}.md`)
    return { id, file, text: textOf(id, draft) }
  }
}

/** Claims a number by creating its file: if another process was faster, the next number is tried. */
export function writeNewTask(
  place: NewTaskPlace,
  draft: Draft,
): { readonly id: string; readonly file: string } {
  const compose = composeTask(place, draft)
  for (let number = place.highest + 1; ; number++) {
    const { id, file, text } = compose(number)
    try {
      writeFileSync(join(place.root, file), text, { flag: 'wx' })
      return { id, file }
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw notWritten(file, error)
    }
  }
}

/** The number of digits in a new task's id: as many as in the last one's. */
export function idDigits(tasks: readonly TaskName[]): number {
  const last = tasks.at(-1)
  return last ? last.id.length - 'T-'.length : 3
}

/** The existing milestone that the text names by its number or name, else the text. */
export function milestoneLike(typed: string | undefined, tasks: readonly Task[]): string | null {
  if (typed === undefined) return null
  const known = tasks.find((task) => task.milestone !== null && isMilestone(task.milestone, typed))
  return known?.milestone ?? typed.replace(/\s+/g, ' ').trim()
}

/** Whether no task has that milestone yet, and those that there are, in the order of the tasks. */
export function newMilestone(
  milestone: string | null,
  tasks: readonly Task[],
): { readonly isNew: boolean; readonly known: readonly string[] } {
  const known = [...new Set(tasks.flatMap((task) => task.milestone ?? []))]
  return { isNew: milestone !== null && !known.includes(milestone), known }
}

/** A path of the repository without code marks; `what` names its source in an error. */
export function pathIn(path: string, what: string): string {
  const bare = path.replaceAll('`', '')
  const wrong = whyOutside(bare)
  if (wrong)
    throw new UserError(`${what}: ${path} ${wrong}`, 'Name files as they lie from the root: src/login.ts')
  return bare
}
