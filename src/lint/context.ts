import type { Aliases } from '../task/vocabulary.ts'

/** What stands around a backlog that its rules need to know. What is absent is not checked. */
export interface LintContext {
  /** The agents that ralph knows, by name. */
  readonly agents?: readonly string[]
  /** The names that have a file in `docs/disciplines/`. */
  readonly disciplines?: readonly string[]
  /** The names that have a file in `docs/features/`. */
  readonly features?: readonly string[]
  /** Whether a path, relative to the root and with symlinks resolved, is outside the repository; without it the path's text tells. */
  readonly isOutside?: (path: string) => boolean
  /** The team's own words, which are right as they are written. */
  readonly aliases?: Aliases
}
