import { UserError } from '../base/errors.ts'
import { makeRunFolder, type RunFolder } from './folder.ts'
import { takeLock } from './lock.ts'
import { readNote } from './note.ts'

/** Does what no run may do at the same time, and what a run that died must have been put in order for. */
export async function withoutRun<T>(
  folder: RunFolder,
  me: { readonly pid: number; readonly now: Date },
  work: () => Promise<T>,
): Promise<T> {
  makeRunFolder(folder)
  const lock = await takeLock(folder.lock, me)
  try {
    refuseUnfinished(folder)
    return await work()
  } finally {
    lock.release()
  }
}

/** A commit on top of what a dead run has left would be in the way of the run that puts that in order. */
function refuseUnfinished({ note }: RunFolder): void {
  const attempt = readNote(note)?.attempt
  if (!attempt) return
  throw new UserError(
    `a run died while it worked on ${attempt.task}, and that is not in order yet`,
    'ralph run does that first; then do this again.',
  )
}
