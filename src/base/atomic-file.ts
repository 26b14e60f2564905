import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { platform } from 'node:os'
import { dirname, join } from 'node:path'
import { codeOf, UserError } from './errors.ts'

/**
 * Writes a file so that every reader, also after a crash, finds the old text or the new one, never a part. It does
 * not wait for the disk: file systems with a journal keep the order, so later writes are lost first. An existing file
 * keeps its mode, and a link to it stays a link.
 */
export function writeFileAtomic(path: string, text: string): void {
  const there = whatIsThere(path)
  const target = there?.target ?? path
  const draft = `${target}.${randomBytes(4).toString('hex')}.draft`
  try {
    // No other user may read a private file, not even before its mode is right.
    writeDraft(draft, text, there?.mode)
    if (there) chmodSync(draft, there.mode)
    renameOver(draft, target)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}

/** Writes a file of the project; throws an error that a person can act on. */
export function writeFileOf(root: string, file: string, text: string): void {
  try {
    writeFileAtomic(join(root, file), text)
  } catch (error) {
    throw notWritten(file, error)
  }
}

/** The error for a file of the project that could not be written. */
export function notWritten(file: string, error: unknown): UserError {
  return new UserError(
    `${file} cannot be written (${String(codeOf(error) ?? error)})`,
    'Check who may write there.',
  )
}

/** The system calls of a rename. */
interface RenameSystem {
  readonly platform: NodeJS.Platform
  readonly rename: (from: string, to: string) => void
  readonly wait: (milliseconds: number) => void
}

const OWN_SYSTEM: RenameSystem = { platform: platform(), rename: renameSync, wait: waitHere }

/** Windows refuses to replace a file that is open, as in a virus scanner for a moment: so it is tried for a second. */
export function renameOver(from: string, to: string, system = OWN_SYSTEM): void {
  for (let waited = 0, pause = 10; ; waited += pause, pause = Math.min(pause * 2, 100)) {
    try {
      return system.rename(from, to)
    } catch (error) {
      if (system.platform !== 'win32' || waited >= 1000 || !isHeldOpen(error)) throw error
      system.wait(pause)
    }
  }
}

function isHeldOpen(error: unknown): boolean {
  return ['EACCES', 'EBUSY', 'EPERM'].includes(String(codeOf(error)))
}

/** Blocks: the caller expects the file to be written when the call returns. */
function waitHere(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
}

function whatIsThere(path: string): { readonly target: string; readonly mode: number } | null {
  try {
    const target = realpathSync(path)
    return { target, mode: statSync(target).mode & 0o7777 }
  } catch {
    return null
  }
}

function writeDraft(draft: string, text: string, mode = 0o666): void {
  try {
    writeFileSync(draft, text, { mode })
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
    mkdirSync(dirname(draft), { recursive: true })
    writeFileSync(draft, text, { mode })
  }
}
