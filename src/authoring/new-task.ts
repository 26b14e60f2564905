import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { notWritten } from '../base/atomic-file.ts'
import { codeOf, UserError } from '../base/errors.ts'
import { whyOutside } from '../base/paths.ts'
import { type Draft, draftWriter } from '../backlog/draft.ts'
import { isMilestone } from '../backlog/milestone.ts'
import type { Task, TaskName } from '../backlog/model.ts'
import { digitsIn, partsOf } from '../backlog/ids.ts'
import { fileIn } from '../backlog/task-folders.ts'
import type { Place, Project } from '../config/project.ts'
import type { Git } from '../git/git.ts'
import { namesEverywhere } from '../git/names.ts'

/**
 * The highest number of any task: among these, on all branches, in all worktrees. The next number is free everywhere, so
 * two pull requests do not use the same one. `git` runs in the project's root.
 */
export async function highestNumber(
  git: Git,
  place: Pick<Place, 'folders'>,
  tasks: readonly Pick<TaskName, 'number'>[],
): Promise<number> {
  return highestOf(await takenNumbers(git, place, tasks))
}

/** The numbers of all these tasks. */
export async function takenNumbers(
  git: Git,
  { folders }: Pick<Place, 'folders'>,
  tasks: readonly Pick<TaskName, 'number'>[],
): Promise<ReadonlySet<number>> {
  const names = await namesEverywhere(git, folders.names)
  const elsewhere = [...names].flatMap((name) => folders.ids.inFileName(name) ?? [])
  const numbers = [...elsewhere.map(folders.ids.numberOf), ...tasks.map(({ number }) => number)]
  return new Set(numbers.map((number) => partsOf(number).first))
}

/** The highest of some numbers, or 0. */
export function highestOf(numbers: Iterable<number>): number {
  return [...numbers].reduce((most, number) => Math.max(most, number), 0)
}

// A file with more digits is not read as a task.
const MOST_DIGITS = 12

/** The file of a new task with this number. */
export function composeTask(
  { folders, tasks, vocabulary }: Pick<Project, 'folders' | 'tasks' | 'vocabulary'>,
  number: number,
  draft: Draft,
) {
  const id = vocabulary.ids.idOf(number, idDigits(tasks))
  if (digitsIn(id) > MOST_DIGITS)
    throw new UserError(`${id} would be too long an id`, 'Give the highest task a smaller number.')
  return { id, file: fileIn(folders.first, `${id}.md`), text: draftWriter(tasks, vocabulary)(id, draft) }
}

/** Claims the first number from this one on by creating its file: if another process was faster, the next is tried. */
export function writeNewTask(
  project: Pick<Project, 'root' | 'folders' | 'tasks' | 'vocabulary'>,
  first: number,
  draft: Draft,
) {
  for (let number = first; ; number++) {
    const { id, file, text } = composeTask(project, number, draft)
    try {
      mkdirSync(join(project.root, project.folders.first), { recursive: true })
      writeFileSync(join(project.root, file), text, { flag: 'wx' })
      return { id, file }
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw notWritten(file, error)
    }
  }
}

/** The number of digits in a new task's id: as many as in the last one's of its pattern, or of any. */
export function idDigits(tasks: readonly TaskName[]): number {
  const last = tasks.findLast(({ number }) => partsOf(number).place === 0) ?? tasks.at(-1)
  return digitsIn(last?.id ?? 'T-001')
}

/** The existing milestone that the text names by its number or name, else the text. */
export function milestoneLike(typed: string | undefined, tasks: readonly Task[]): string | null {
  if (typed === undefined) return null
  const known = tasks.find((task) => task.milestone !== null && isMilestone(task.milestone, typed))
  return known?.milestone ?? typed.replace(/\s+/g, ' ').trim()
}

/** A path of the repository without code marks; `what` names its source in an error. */
export function pathIn(path: string, what: string): string {
  const bare = path.replaceAll('`', '')
  const wrong = whyOutside(bare)
  if (wrong)
    throw new UserError(`${what}: ${path} ${wrong}`, 'Name files as they lie from the root: src/login.ts')
  return bare
}
