import { UserError } from '../base/errors.ts'
import { makeRunFolder, type RunFolder } from './folder.ts'
import { takeLock } from '../process/lock.ts'
import { readNote } from './note.ts'
import type { World } from '../base/world.ts'

/** The process that takes the lock. */
type Owner = Pick<World, 'pid' | 'now'>

/** Does what only one ralph may do in a checkout at a time. */
export async function underLock<T>(
  folder: RunFolder,
  { pid, now }: Owner,
  work: () => Promise<T>,
): Promise<T> {
  makeRunFolder(folder)
  const lock = await takeLock(folder.lock, { pid, now: now() })
  try {
    return await work()
  } finally {
    lock.release()
  }
}

/** Does the same; throws if a dead run has left something to recover. */
export function withoutRun<T>(folder: RunFolder, me: Owner, work: () => Promise<T>): Promise<T> {
  return underLock(folder, me, () => {
    refuseUnfinished(folder)
    return work()
  })
}

/** What a dead run has left in its slots would be lost if they were used for something else. */
function refuseUnfinished({ note }: RunFolder): void {
  const [job] = readNote(note)?.jobs ?? []
  if (!job) return
  throw new UserError(
    `a run died while it worked on ${job.attempt.task}, and nobody has gone on from there yet`,
    'ralph run does that first; then do this again.',
  )
}
