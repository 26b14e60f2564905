import { join } from 'node:path'
import { writeFileAtomic } from '../base/atomic-file.ts'
import { codeOf, UserError } from '../base/errors.ts'

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
