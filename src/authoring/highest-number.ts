import type { Git } from '../git/git.ts'
import { namesEverywhere } from '../git/names.ts'
import { idInFileName } from '../backlog/task-folders.ts'
import { numberOf } from '../backlog/values.ts'
import type { Place } from '../config/project.ts'

/**
 * The highest number of any task: among these, on all branches, in all worktrees. The next number is free everywhere, so
 * two pull requests do not use the same one. `git` runs in the project's root.
 */
export async function highestNumber(
  git: Git,
  { folders }: Pick<Place, 'folders'>,
  tasks: readonly { readonly number: number }[],
): Promise<number> {
  const names = await namesEverywhere(git, folders.names)
  let highest = tasks.reduce((most, { number }) => Math.max(most, number), 0)
  for (const name of names) {
    const id = idInFileName(name)
    if (id !== null) highest = Math.max(highest, numberOf(id))
  }
  return highest
}
