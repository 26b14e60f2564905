import type { Status, Task } from './model.ts'

/** The place in another tool's backlog that a task came from: the path that names it, and what names the task there. */
export interface Origin {
  readonly path: string
  readonly key: string
}

/** What of an Origin is written as it is: nothing that Markdown, a list or the field itself would take for a sign. */
const PLAIN = /[^\p{L}\p{N}/_.:@+=~!$&'()-]/gu

/** An origin as the value of its field. */
export function originText({ path, key }: Origin): string {
  return `\`${escaped(path)}#${escaped(key)}\``
}

/** A text of any form as one word. */
export function escaped(text: string): string {
  return text.replaceAll(PLAIN, (sign) =>
    sign === '*' ? '%2A' : encodeURIComponent(/^[\ud800-\udfff]$/.test(sign) ? '\uFFFD' : sign),
  )
}

/** The origin that the value of the field names; null where it names none. */
export function readOrigin(value: string | null): Origin | null {
  const at = value?.indexOf('#') ?? -1
  if (value === null || at <= 0 || at === value.length - 1) return null
  try {
    return { path: decodeURIComponent(value.slice(0, at)), key: decodeURIComponent(value.slice(at + 1)) }
  } catch {
    return null
  }
}

/** How a task stands now, for the place that it came from. */
export interface OriginReport {
  readonly status: Status
  /** Why it is blocked; empty where it is not. */
  readonly reason: string
  readonly at: Date
  /** The attempts that failed, and why. */
  readonly failed: readonly FailedAttempt[]
}

interface FailedAttempt {
  readonly number: number
  readonly reason: string
  readonly at: Date
}

/** The backlogs of other tools that are kept in step. */
export interface Origins {
  /** Their files, relative to the root: no agent's to change. */
  readonly files: readonly string[]
  /** The new texts of those that tell how a task stands, by path; none where it came from none of them. */
  readonly texts: (task: Task, report: OriginReport) => Promise<ReadonlyMap<string, string>>
}

/** Where nothing is kept in step. */
export const NO_ORIGINS: Origins = { files: [], texts: () => Promise.resolve(new Map()) }
