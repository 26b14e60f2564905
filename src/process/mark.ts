import { randomBytes } from 'node:crypto'
import { platform } from 'node:os'

/**
 * The variable by which a process and all that it starts can be found again, also those that left its
 * group, its session and its parent. Marks are joined by colons, the outermost first, so that a ralph
 * started by an agent of another ralph is found by both.
 */
export const MARK_VARIABLE = 'RALPH_RUN'

export type Environment = Readonly<Record<string, string | undefined>>

/** A mark that no other process on the machine has. */
export function newMark(): string {
  return randomBytes(12).toString('hex')
}

/** The environment with one more mark, and without undefined values. */
export function withMark(env: Environment, mark: string): Record<string, string> {
  const marked = childEnvironment(env)
  marked[MARK_VARIABLE] = [marked[MARK_VARIABLE], mark].filter(Boolean).join(':')
  return marked
}

/** The environment of a started process: all defined values. */
export function childEnvironment(env: Environment, system = platform()): Record<string, string> {
  const defined: Record<string, string> = {}
  for (const [name, value] of Object.entries(env)) if (value !== undefined) defined[name] = value
  // Windows looks for a program in the current folder first, where anybody may have put one called git.
  if (system === 'win32') defined['NoDefaultCurrentDirectoryInExePath'] = '1'
  return defined
}
