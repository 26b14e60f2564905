import { codeOf } from '../base/errors.ts'
import { isUtf8 } from 'node:buffer'
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, realpathSync } from 'node:fs'
import { pathWithin } from '../base/paths.ts'

/** A task file as read: its UTF-8 bytes, each as one unit. */
export interface TaskBytes {
  /** Relative to the project root, with forward slashes. */
  readonly file: string
  /** As in the file name. */
  readonly id: string
  readonly bytes: string
}

/** Why a file cannot be read. */
export interface Unreadable {
  readonly problem: string
}

// A task is about 2 KB. One buffer for all of them takes half the time of readFile.
const buffer = Buffer.allocUnsafeSlow(64 * 1024)
const LARGEST = 1024 * 1024

/** The bytes of a task file, or why they cannot be read. The file must be inside the project. */
export function readTaskBytes(path: string, root: string): string | Unreadable {
  let step = 'opened'
  let file: number | null = null
  try {
    file = openPlain(path)
    if (file === null) {
      const refusal = linkRefusal(path, root)
      if (refusal !== null) return { problem: refusal }
      file = openSync(path, constants.O_RDONLY | NO_WAITING)
    }
    step = 'read'
    return readOpen(file)
  } catch (error) {
    return { problem: whyNot(String(codeOf(error) ?? error), step) }
  } finally {
    if (file !== null) closeSync(file)
  }
}

// Opening a pipe would wait for its writer, and a link may lead out of the project. Windows has neither flag.
const NO_WAITING: number = constants.O_NONBLOCK ?? 0
const NO_LINKS: number = constants.O_NOFOLLOW ?? 0

/** Null if it is a link. */
function openPlain(path: string): number | null {
  if (NO_LINKS === 0 && lstatSync(path).isSymbolicLink()) return null
  try {
    return openSync(path, constants.O_RDONLY | NO_WAITING | NO_LINKS)
  } catch (error) {
    // Systems have different codes for a link that is not followed.
    if (['ELOOP', 'EMLINK'].includes(String(codeOf(error) ?? error))) return null
    throw error
  }
}

function linkRefusal(path: string, root: string): string | null {
  try {
    const target = pathWithin(realpathSync(root), realpathSync(path))
    return target === null ? 'is a link that leads out of the project' : null
  } catch {
    return 'is a link that leads nowhere'
  }
}

function readOpen(file: number): string | Unreadable {
  const length = readSync(file, buffer, 0, buffer.length, null)
  if (length > 0 && length < buffer.length) return textOf(buffer.subarray(0, length))
  const status = fstatSync(file)
  const { size } = status
  if (!status.isFile()) return { problem: 'is not a plain file' }
  if (size > LARGEST)
    return { problem: `has ${(size / LARGEST).toFixed(1)} MB; a task file has at most 1 MB` }
  const whole = Buffer.alloc(size)
  const filled = buffer.copy(whole, 0, 0, length)
  const more = readSync(file, whole, filled, size - filled, filled)
  return textOf(whole.subarray(0, filled + more))
}

function textOf(bytes: Buffer): string | Unreadable {
  return isUtf8(bytes) ? bytes.toString('latin1') : { problem: 'is not UTF-8 text' }
}

function whyNot(code: string, what: string): string {
  switch (code) {
    case 'EISDIR':
      return 'is a folder, not a file'
    case 'ENOENT':
      return 'does not exist'
    case 'EACCES':
    case 'EPERM':
      return `may not be ${what}: check its permissions`
    default:
      return `cannot be ${what} (${code})`
  }
}
