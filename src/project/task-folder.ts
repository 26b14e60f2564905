import { realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { UserError } from '../base/errors.ts'
import { pathWithin } from '../base/paths.ts'

/** A folder that is not there leads nowhere, which is told where it is read. */
function leadsOut(root: string, dir: string): boolean {
  try {
    return pathWithin(realpathSync(root), realpathSync(join(root, dir))) === null
  } catch {
    return false
  }
}

/** The task folder relative to the root, with forward slashes. One that lies outside could be in no commit. */
export function taskFolder(root: string, asked: string): string {
  const dir = pathWithin(root, resolve(root, asked))
  if (dir === null) {
    throw new UserError(
      `the task folder ${asked} is outside of the project at ${root}`,
      'It is told relative to there, as in --dir docs/tasks; -C <path> works on another project.',
    )
  }
  if (leadsOut(root, dir)) {
    throw new UserError(
      `the task folder ${asked} is a link that leads out of the project at ${root}`,
      'No commit could hold a task there. Make it a folder, or work on the other project with -C <path>.',
    )
  }
  return dir.replaceAll('\\', '/') || '.'
}
