import { resolve } from 'node:path'
import { UserError } from '../base/errors.ts'
import { pathWithin } from '../base/path-within.ts'

/** The task folder relative to the root, with forward slashes. One that lies outside could be in no commit. */
export function taskFolder(root: string, asked: string): string {
  const dir = pathWithin(root, resolve(root, asked))
  if (dir === null) {
    throw new UserError(
      `the task folder ${asked} is outside of the project at ${root}`,
      'It is told relative to there, as in --dir docs/tasks; -C <path> works on another project.',
    )
  }
  return dir.replaceAll('\\', '/') || '.'
}
