import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'

/**
 * The text of a file that an agent may have written; null for anything that is no plain file of at most that size. A
 * link is not followed, and a pipe is not waited for.
 */
export function readPlainFile(path: string, mostBytes: number): string | null {
  let file: number | undefined
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    const stats = fstatSync(file)
    return stats.isFile() && stats.size <= mostBytes ? readFileSync(file, 'utf8') : null
  } catch {
    return null
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

/** The text of a file; empty if it cannot be read. */
export function textAt(path: string): string {
  try {
    return readText(path)
  } catch {
    return ''
  }
}

/** The text of a file; a pipe, which would be waited for, is an error: ENOTFILE. */
export function readText(path: string): string {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    if (fstatSync(file).isFile()) return readFileSync(file, 'utf8')
    // The open itself succeeds on a folder.
    throw Object.assign(new Error('not a plain file'), {
      code: fstatSync(file).isDirectory() ? 'EISDIR' : 'ENOTFILE',
    })
  } finally {
    closeSync(file)
  }
}
