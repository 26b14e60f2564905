import { closeSync, constants, fstatSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { writeFileAtomic } from '../../base/atomic-file.ts'

/** A file of an agent, such as its login, and the copy that it may replace in a cage. */
export interface CarriedFile {
  readonly path: string
  readonly copy: string
  /** Where a new copy is written before it takes its place; nothing in the cage can reach it. */
  readonly draft: string
}

/** How often a change is looked for. */
const EVERY_MS = 500
/** No login is larger. */
const MOST_BYTES = 1024 * 1024

/**
 * Keeps files and their copies equal for as long as a cage lives; the returned function does so once more and ends it.
 * A mounted file would not do: a program that renews its login by renaming a new file over it fails, and the service
 * has already made the old login invalid. In the other direction an agent gets what another one has renewed.
 */
export function carryFiles(files: readonly CarriedFile[]): () => void {
  // A gate has none, and needs no timer.
  if (files.length === 0) return () => undefined
  const states = files.map((file) => ({ file, same: readText(file.path), before: readText(file.copy) }))
  const carry = (isLast: boolean): void => {
    for (const state of states) {
      const { path, copy, draft } = state.file
      const [own, copied] = [readText(path), readText(copy)]
      // While the agent lives, a file that has just changed may be half written.
      const isWhole = isLast || copied === state.before
      state.before = copied
      if (copied !== null && copied !== state.same && isWhole) {
        writeFileAtomic(path, copied)
        state.same = copied
      } else if (own !== null && own !== state.same && copied === state.same) {
        writeFileSync(draft, own, { mode: 0o600 })
        renameSync(draft, copy)
        state.same = own
        state.before = own
      }
    }
  }
  const timer = setInterval(() => ignoringErrors(() => carry(false)), EVERY_MS).unref()
  return () => {
    clearInterval(timer)
    ignoringErrors(() => carry(true))
  }
}

/** A disk that is full must not end the run; the next round tries again. */
function ignoringErrors(work: () => void): void {
  try {
    work()
  } catch {
    // The agent itself reports a login that does not work.
  }
}

/** The text of a plain file; null for anything else, because an agent can put a link or a pipe in the place of its copy. */
function readText(path: string): string | null {
  let file: number | undefined
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    const stats = fstatSync(file)
    if (!stats.isFile() || stats.size === 0 || stats.size > MOST_BYTES) return null
    return readFileSync(file, 'utf8')
  } catch {
    return null
  } finally {
    if (file !== undefined) closeSync(file)
  }
}
