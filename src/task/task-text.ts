import { isUtf8 } from 'node:buffer'
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, realpathSync } from 'node:fs'
import { isAbsolute, relative, sep } from 'node:path'

/** A task file as bytes, which are UTF-8. */
export interface TaskBytes {
  /** Relative to the project root, with forward slashes. */
  readonly file: string
  /** As the file's name writes it. */
  readonly id: string
  readonly bytes: Buffer
}

/** Why a file's text cannot be had. */
export interface Unreadable {
  readonly problem: string
}

/** The text of a task file, or what keeps it from being read. The file must lie within the project. */
export function readTaskText(path: string, root: string): string | Unreadable {
  const bytes = readTaskBytes(path, root)
  return 'problem' in bytes ? bytes : bytes.toString('utf8')
}

/** The bytes of a task file, which are UTF-8 and good until the next file is read, or what keeps it from being read. */
export function readTaskBytes(path: string, root: string): Buffer | Unreadable {
  let file: number
  try {
    file = openPlain(path)
  } catch (error) {
    const code = codeOf(error)
    // A link, says one system; a link that is not followed, says another.
    if (code !== 'ELOOP' && code !== 'EMLINK') return { problem: whyNot(code, 'opened') }
    const refusal = linkRefusal(path, root)
    if (refusal !== null) return { problem: refusal }
    file = openSync(path, constants.O_RDONLY | NO_WAITING)
  }
  try {
    return bytesOf(file)
  } catch (error) {
    return { problem: whyNot(codeOf(error), 'read') }
  } finally {
    closeSync(file)
  }
}

// Opening a pipe would wait for its writer, a link may lead out of the project. Windows has neither flag.
const NO_WAITING: number = constants.O_NONBLOCK ?? 0
const NO_LINKS: number = constants.O_NOFOLLOW ?? 0

function openPlain(path: string): number {
  if (NO_LINKS === 0 && lstatSync(path).isSymbolicLink())
    throw Object.assign(new Error('link'), { code: 'ELOOP' })
  return openSync(path, constants.O_RDONLY | NO_WAITING | NO_LINKS)
}

function linkRefusal(path: string, root: string): string | null {
  let target: string
  try {
    target = relative(realpathSync(root), realpathSync(path))
  } catch {
    return 'is a link that leads nowhere'
  }
  const isOutside = target === '..' || target.startsWith(`..${sep}`) || isAbsolute(target)
  return isOutside ? 'is a link that leads out of the project' : null
}

// A task is about 2 KB. One buffer serves all files: ten thousand are read so in half the time of readFile.
const buffer = Buffer.allocUnsafeSlow(64 * 1024)
const LARGEST = 1024 * 1024

function bytesOf(file: number): Buffer | Unreadable {
  const length = readSync(file, buffer, 0, buffer.length, null)
  if (length > 0 && length < buffer.length) return checked(buffer.subarray(0, length))
  const status = fstatSync(file)
  if (!status.isFile()) return { problem: 'is not a plain file' }
  if (length === 0) return Buffer.alloc(0)
  if (status.size > LARGEST) {
    return { problem: `has ${(status.size / LARGEST).toFixed(1)} MB; a task file has at most 1 MB` }
  }
  const whole = Buffer.alloc(status.size)
  const filled = buffer.copy(whole)
  const more = readSync(file, whole, filled, status.size - filled, filled)
  return checked(whole.subarray(0, filled + more))
}

function checked(bytes: Buffer): Buffer | Unreadable {
  return isUtf8(bytes) ? bytes : { problem: 'is not UTF-8 text' }
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

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}
