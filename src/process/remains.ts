import type { ProcessEntry } from './table.ts'

/** A process as somebody else can find it again once the one that started it is dead. */
export interface StartedProcess {
  readonly pid: number
  /** The group that it leads; null on Windows, which has none. */
  readonly group: number | null
  /** As the table has it; empty until that is known. */
  readonly startedAt: string
  /** The start of the system that all this holds for; empty until that is known, or where it tells none. */
  readonly boot: string
  /** When this was written down, which is at once, in milliseconds since 1970: what to go by until its start is known. */
  readonly notedAt?: number
}

/** Those of a table from which all that is left of noted processes can be found. */
export interface Remains {
  /** Noted processes that are alive, or were the parents of what may be, with when they began. */
  readonly members: ReadonlyMap<number, string>
  /** Groups of theirs that nobody else has been given since. */
  readonly groups: ReadonlySet<number>
}

/**
 * What there still is of noted processes. A number may belong to a stranger by now: then its start is another one.
 * While anybody is left in a group its number is given to nobody else, so a group without its leader is still theirs
 * where all in it began after the leader.
 */
export function remainsOf(
  noted: readonly StartedProcess[],
  { table, boot: now }: { readonly table: readonly ProcessEntry[]; readonly boot: string },
): Remains {
  const members = new Map<number, string>()
  const groups = new Set<number>()
  for (const { pid, group, startedAt, boot, notedAt } of noted) {
    const holder = table.find((entry) => entry.pid === pid)
    if (startedAt === '' && holder && beganAt(holder.startedAt, notedAt)) {
      members.set(pid, holder.startedAt)
      if (group !== null) groups.add(group)
      continue
    }
    // Nothing outlives a start of the system, and without one of its own nothing tells it from a stranger.
    if (boot !== now || startedAt === '' || (holder && holder.startedAt !== startedAt)) continue
    members.set(pid, startedAt)
    const inGroup = table.filter(({ session }) => session === group)
    if (group !== null && inGroup.every((entry) => !isBefore(entry.startedAt, startedAt))) groups.add(group)
  }
  return { members, groups }
}

/** Dates of `ps` have seconds; a number that was given to a stranger within two of them is none that occurs. */
const NEAR_MS = 2000

/** Whether a process began when it was written down. Linux's ticks are no time of day, but there marks are read. */
function beganAt(startedAt: string, notedAt: number | undefined): boolean {
  const at = /^\d+$/.test(startedAt) ? Number(startedAt) : Date.parse(startedAt)
  return notedAt !== undefined && Math.abs(at - notedAt) <= NEAR_MS
}

/** Whether one start was before another: ticks or milliseconds as numbers, or the dates of `ps`. */
export function isBefore(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => (/^\d+$/.test(text) ? Number(text) : Date.parse(text)))
  return a !== undefined && b !== undefined && a < b
}
