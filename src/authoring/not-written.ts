import { join } from 'node:path'
import { writeFileAtomic } from '../base/atomic-file.ts'
import { UserError } from '../base/errors.ts'

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
  const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
  return new UserError(`${file} cannot be written (${code})`, 'Check who may write there.')
}
