/** A failure that the person can fix: what happened, and what to do now. Any other exception is a bug. */
export class UserError extends Error {
  /** What to do now; empty if the message includes it. */
  readonly fix: string
  readonly exitCode: 1 | 2

  constructor(message: string, fix = '', exitCode: 1 | 2 = 2) {
    super(message)
    this.name = 'UserError'
    this.fix = fix
    this.exitCode = exitCode
  }
}

/** The code of an error of the system, such as ENOENT; undefined for any other. */
export function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}

/** What a person reads of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Closes an exhaustive `switch`: reaching it is a bug that the compiler would have shown. */
export function unreachable(value: never): never {
  throw new Error(`not handled: ${JSON.stringify(value)}`)
}
