import { randomBytes } from 'node:crypto'

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
  const marked: Record<string, string> = {}
  for (const [name, value] of Object.entries(env)) if (value !== undefined) marked[name] = value
  marked[MARK_VARIABLE] = [marked[MARK_VARIABLE], mark].filter(Boolean).join(':')
  return marked
}
