import { codeOf } from '../base/errors.ts'
import { isUtf8 } from 'node:buffer'
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, realpathSync } from 'node:fs'
import type { Span } from '../base/diagnostic.ts'
import { pathWithin } from '../base/paths.ts'
import type { TaskName } from './model.ts'

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

/** The bytes of a task file, or why they cannot be read. The file must be inside the project. */
export function readTaskBytes(path: string, root: string): string | Unreadable {
  const file = readTaskFile(path, root, 0)
  return typeof file !== 'string' && 'end' in file ? partsOfBuffer([file], file.end)[0]! : file
}

// A task is about 2 KB. About thirty fit into the buffer and become one string, of which each is a part: that takes
// half the time of readFile. A larger string is not allocated as a young object, and costs more than it saves.
const buffer = Buffer.allocUnsafeSlow(64 * 1024)
const LEAST_ROOM = 8 * 1024
const LARGEST = 1024 * 1024
const LINE_FEED = 10

/**
 * The bytes of files, or why each cannot be read: from one on, as many as fit into the buffer. Parts to keep should be
 * copied into new strings.
 */
export function readTaskFiles(
  root: string,
  files: readonly Pick<TaskName, 'file'>[],
  from: number,
): readonly (string | Unreadable)[] {
  const read: (Span | string | Unreadable)[] = []
  let end = 0
  for (let i = from; i < files.length && buffer.length - end > LEAST_ROOM; i++) {
    const file = readTaskFile(`${root}/${files[i]!.file}`, root, end)
    read.push(file)
    if (typeof file !== 'string' && 'end' in file) {
      end = file.end
      // A construct left open in one file must not continue into the next.
      buffer[end++] = LINE_FEED
    }
  }
  return partsOfBuffer(read, end)
}

function partsOfBuffer(files: readonly (Span | string | Unreadable)[], end: number): (string | Unreadable)[] {
  const isValid = isUtf8(buffer.subarray(0, end))
  const bytes = buffer.toString('latin1', 0, end)
  return files.map((file) => {
    if (typeof file === 'string' || 'problem' in file) return file
    const { start, end } = file
    return isValid || isUtf8(buffer.subarray(start, end)) ? bytes.slice(start, end) : NOT_UTF8
  })
}

/** Reads a file into the buffer from `at` on, and returns its span; its bytes if it does not fit; or why it cannot be read. */
function readTaskFile(path: string, root: string, at: number): Span | string | Unreadable {
  let file: number
  try {
    const opened = openPlain(path) ?? openLinked(path, root)
    if (typeof opened !== 'number') return opened
    file = opened
  } catch (error) {
    return { problem: whyNot(String(codeOf(error) ?? error), 'opened') }
  }
  try {
    return readOpen(file, at)
  } catch (error) {
    return { problem: whyNot(String(codeOf(error) ?? error), 'read') }
  } finally {
    closeSync(file)
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

function openLinked(path: string, root: string): number | Unreadable {
  const refusal = linkRefusal(path, root)
  return refusal === null ? openSync(path, constants.O_RDONLY | NO_WAITING) : { problem: refusal }
}

function linkRefusal(path: string, root: string): string | null {
  try {
    const target = pathWithin(realpathSync(root), realpathSync(path))
    return target === null ? 'is a link that leads out of the project' : null
  } catch {
    return 'is a link that leads nowhere'
  }
}

function readOpen(file: number, at: number): Span | string | Unreadable {
  const room = buffer.length - 1 - at
  const length = readSync(file, buffer, at, room, null)
  if (length > 0 && length < room) return { start: at, end: at + length }
  const status = fstatSync(file)
  if (!status.isFile()) return { problem: 'is not a plain file' }
  if (length === 0) return { start: at, end: at }
  if (status.size > LARGEST) {
    return { problem: `has ${(status.size / LARGEST).toFixed(1)} MB; a task file has at most 1 MB` }
  }
  const whole = Buffer.alloc(status.size)
  const filled = buffer.copy(whole, 0, at, at + length)
  const more = readSync(file, whole, filled, status.size - filled, filled)
  const bytes = whole.subarray(0, filled + more)
  return isUtf8(bytes) ? bytes.toString('latin1') : NOT_UTF8
}

const NOT_UTF8: Unreadable = { problem: 'is not UTF-8 text' }

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
