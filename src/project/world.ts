/** What the wiring may know of the world outside: a command hands over its own. */
export interface World {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** This process, which a lock is in the name of. */
  readonly pid: number
  readonly now: () => Date
  /** Aborts at the first interrupt. */
  readonly signal: AbortSignal
  /** Aborts at the second interrupt: end at once. */
  readonly urgent: AbortSignal
}
