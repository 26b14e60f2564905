import { randomBytes } from 'node:crypto'
import { platform } from 'node:os'

/**
 * The variable through which a process and all that it starts can be found again, also what left its
 * group, its session and its parent. Marks are joined by colons, the outermost first, so that a ralph
 * inside an agent of another ralph is found by both.
 */
export const MARK_VARIABLE = 'RALPH_RUN'

export type Environment = Readonly<Record<string, string | undefined>>

/** A mark that no other process on the machine has. */
export function newMark(): string {
  return randomBytes(12).toString('hex')
}

/** The environment with one more mark, and without what is undefined. */
export function withMark(env: Environment, mark: string): Record<string, string> {
  const marked = childEnvironment(env)
  marked[MARK_VARIABLE] = [marked[MARK_VARIABLE], mark].filter(Boolean).join(':')
  return marked
}

/** What a process that is started finds in its environment: all that is defined. */
export function childEnvironment(env: Environment, system = platform()): Record<string, string> {
  const defined: Record<string, string> = {}
  for (const [name, value] of Object.entries(env)) if (value !== undefined) defined[name] = value
  // Windows looks for a program in the current folder first, where anybody may have put one of git's name.
  if (system === 'win32') defined['NoDefaultCurrentDirectoryInExePath'] = '1'
  return defined
}
