import { UserError } from '../base/errors.ts'

/** Why a file of the project could not be written. */
export function notWritten(file: string, error: unknown): UserError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
  return new UserError(`${file} cannot be written (${code})`, 'Check who may write there.')
}
