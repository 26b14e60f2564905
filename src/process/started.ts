import { platform } from 'node:os'
import type { StartProcess } from './start.ts'
import { startOf, thisMachine, type ProcessEntry } from './table.ts'

/** The living ones among the processes that were started here. */
export class StartedProcesses {
  readonly #living = new Map<number, StartedProcess>()
  readonly #now: () => number
  #listener: ((living: readonly StartedProcess[]) => void) | null = null

  /** The time in milliseconds since 1970. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** Calls the listener each time that a process begins, and when its start is known; the returned function ends that. */
  listen(listener: (living: readonly StartedProcess[]) => void): () => void {
    this.#listener = listener
    return () => {
      this.#listener = null
    }
  }

  /** Returns a way to start processes that remembers each while it runs. */
  following(start: StartProcess): StartProcess {
    return (command, options) => {
      const running = start(command, options)
      const { pid } = running
      if (pid === undefined) return running
      const forget = (): boolean => this.#living.delete(pid)
      running.finished.then(forget, forget)
      this.#keep({ ...placeOf(pid), startedAt: '', boot: '', notedAt: this.#now() })
      void this.#learn(pid)
      return running
    }
  }

  async #learn(pid: number): Promise<void> {
    const [{ boot }, startedAt] = await Promise.all([thisMachine(), startOf(pid)])
    // If the table cannot be read, the note stays as it was.
    if (startedAt && this.#living.has(pid)) this.#keep({ ...placeOf(pid), startedAt, boot })
  }

  #keep(process: StartedProcess): void {
    this.#living.set(process.pid, process)
    this.#listener?.([...this.#living.values()])
  }
}

function placeOf(pid: number): Pick<StartedProcess, 'pid' | 'group'> {
  return { pid, group: platform() === 'win32' ? null : pid }
}

/** Identifies a process for a later run, after the process that started it is dead. */
export interface StartedProcess {
  readonly pid: number
  /** The group that it leads; null on Windows, which has none. */
  readonly group: number | null
  /** Its start as in the process table; empty until known. */
  readonly startedAt: string
  /** The start of the system in which all this is valid; empty until known, or if the system has no such id. */
  readonly boot: string
  /** The time of this note, made right after the start, in milliseconds since 1970: used until the process's start is known. */
  readonly notedAt?: number
}

/**
 * Finds what is left of noted processes. A number may belong to an unrelated process by now: then its start differs.
 * While a process is left in a group, the system does not reuse the group's number, so a group without its leader is still theirs
 * if all its processes began after the leader.
 */
export function remainsOf(
  noted: readonly StartedProcess[],
  { table, boot: now }: { table: readonly ProcessEntry[]; boot: string },
) {
  const members = new Map<number, string>()
  const groups = new Set<number>()
  for (const { pid, group, startedAt, boot, notedAt } of noted) {
    const holder = table.find((entry) => entry.pid === pid)
    if (startedAt === '' && holder && beganAt(holder.startedAt, notedAt)) {
      members.set(pid, holder.startedAt)
      if (group !== null) groups.add(group)
      continue
    }
    // No process survives a start of the system, and without a start of its own it looks like an unrelated one.
    if (boot !== now || startedAt === '' || (holder && holder.startedAt !== startedAt)) continue
    members.set(pid, startedAt)
    const inGroup = table.filter(({ session }) => session === group)
    if (group !== null && inGroup.every((entry) => !isBefore(entry.startedAt, startedAt))) groups.add(group)
  }
  return { members, groups }
}

/** Dates of `ps` have seconds; that an unrelated process gets the number within two seconds does not occur. */
const NEAR_MS = 2000

/** Whether a process began when it was noted. Linux's ticks are no time of day, but there marks are read. */
function beganAt(startedAt: string, notedAt: number | undefined): boolean {
  const at = /^\d+$/.test(startedAt) ? Number(startedAt) : Date.parse(startedAt)
  return notedAt !== undefined && Math.abs(at - notedAt) <= NEAR_MS
}

/** Whether one start was before another: ticks or milliseconds as numbers, or the dates of `ps`. */
export function isBefore(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => (/^\d+$/.test(text) ? Number(text) : Date.parse(text)))
  return a !== undefined && b !== undefined && a < b
}
