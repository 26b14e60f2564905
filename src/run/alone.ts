import { readFileSync } from 'node:fs'
import { UserError } from '../base/errors.ts'
import { makeRunFolder, type RunFolder } from './folder.ts'
import { takeLock } from './lock.ts'
import { attemptsIn, readNote } from './note.ts'

/** The process that takes the lock. */
interface Owner {
  readonly pid: number
  readonly now: Date
}

/** Does what only one ralph may do in a checkout at a time. */
export async function underLock<T>(folder: RunFolder, me: Owner, work: () => Promise<T>): Promise<T> {
  makeRunFolder(folder)
  const lock = await takeLock(folder.lock, me)
  try {
    return await work()
  } finally {
    lock.release()
  }
}

/** Does the same; throws if a dead run, or a dead planning, has left something to recover. */
export function withoutRun<T>(folder: RunFolder, me: Owner, work: () => Promise<T>): Promise<T> {
  return withoutDeadRun(folder, me, () => {
    refusePlanning(folder)
    return work()
  })
}

/** Does the same for planning itself, which recovers one that died. */
export function withoutDeadRun<T>(folder: RunFolder, me: Owner, work: () => Promise<T>): Promise<T> {
  return underLock(folder, me, () => {
    refuseUnfinished(folder)
    return work()
  })
}

/** The agent of a dead planning may have changed git's settings and hooks, which any commit would use. */
function refusePlanning({ plan }: RunFolder): void {
  if (!hasAgentAtWork(plan)) return
  throw new UserError(
    'ralph plan was killed while its agent worked, and that is not in order yet',
    'ralph plan or ralph run does that first; then do this again.',
  )
}

function hasAgentAtWork(plan: string): boolean {
  try {
    const { work } = JSON.parse(readFileSync(plan, 'utf8')) as { readonly work?: unknown }
    return typeof work === 'object' && work !== null
  } catch {
    // There is no such note.
    return false
  }
}

/** A commit on top of what a dead run has left would hinder its recovery. */
function refuseUnfinished({ note }: RunFolder): void {
  const left = readNote(note)
  const [attempt] = left ? attemptsIn(left) : []
  if (!attempt) return
  throw new UserError(
    `a run died while it worked on ${attempt.task}, and that is not in order yet`,
    'ralph run does that first; then do this again.',
  )
}
