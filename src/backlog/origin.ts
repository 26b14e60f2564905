import type { Status, Task } from './model.ts'

/** The place in another tool's backlog that a task came from: the path of the backlog, and the task's key in it. */
export interface Origin {
  readonly path: string
  readonly key: string
}

/** The characters of an Origin that are not escaped: none has a meaning in Markdown, in a list or in the field. */
const PLAIN = /[^\p{L}\p{N}/_.:@+=~!$&'()-]/gu

/** An origin as a field value. */
export function originText({ path, key }: Origin): string {
  return `\`${escaped(path)}#${escaped(key)}\``
}

/** Escapes any text into one word. */
export function escaped(text: string): string {
  return text.replaceAll(PLAIN, (sign) =>
    sign === '*' ? '%2A' : encodeURIComponent(/^[\ud800-\udfff]$/.test(sign) ? '\uFFFD' : sign),
  )
}

/** Parses the value of an Origin field; null if it is none. */
export function readOrigin(value: string | null): Origin | null {
  const at = value?.indexOf('#') ?? -1
  if (value === null || at <= 0 || at === value.length - 1) return null
  try {
    return { path: decodeURIComponent(value.slice(0, at)), key: decodeURIComponent(value.slice(at + 1)) }
  } catch {
    return null
  }
}

/** The state of a task, for its origin. */
export interface OriginReport {
  readonly status: Status
  /** Why it is blocked; empty if it is not. */
  readonly reason: string
  readonly at: Date
  /** Who has changed the status, if it was not an agent; null: it is not to be said. */
  readonly author?: 'human' | null
  /** The attempts that failed, and why. */
  readonly failed: readonly FailedAttempt[]
}

interface FailedAttempt {
  readonly number: number
  readonly reason: string
  readonly at: Date
}

/** Backlogs of other tools that ralph keeps in sync. */
export interface Origins {
  /** Their files, relative to the root: no agent may change them. */
  readonly files: readonly string[]
  /** The new texts of the origin's files for a state, by path; empty if the task has no synced origin. */
  readonly texts: (task: Task, report: OriginReport) => Promise<ReadonlyMap<string, string>>
}

/** For a project that syncs with no other tool. */
export const NO_ORIGINS: Origins = { files: [], texts: () => Promise.resolve(new Map()) }
