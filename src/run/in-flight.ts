import { readFileSync, rmSync } from 'node:fs'
import type { Usage } from '../events/usage.ts'
import { writeFileAtomic } from '../base/atomic-file.ts'
import type { Base } from '../git/restore.ts'

/** What a run is in the middle of: enough for the next one to go on, whatever happens to this one. */
export interface InFlight {
  readonly version: 1
  /** Marks every process that the run starts. */
  readonly mark: string
  readonly startedAt: string
  /** When the tree was last known to be clean, by the file system's clock. */
  readonly cleanSince: number
  /** What the run has cost so far, the attempt that is under way not counted; null where nobody told. */
  readonly spentUsd: number | null
  readonly attempt: AttemptInFlight | null
}

export interface AttemptInFlight {
  readonly task: string
  readonly title: string
  /** The task file, relative to the root. */
  readonly file: string
  readonly number: number
  readonly try: number
  readonly tries: number
  readonly base: Base
  readonly phase: Phase
  readonly agent: string
  readonly model: string | null
  readonly tier: string
  readonly usage: Usage
  readonly startedAt: string
  readonly log: string
  /** Why the task is to be blocked, in that phase. */
  readonly reason: string | null
  /** The ref that the attempt is kept under already. */
  readonly keptRef: string | null
  /** The first digits of the commit that is being made. */
  readonly prefix: string | null
}

/**
 * How far an attempt is. `working`: whatever is in the tree may be the agent's, and a HEAD that has moved was
 * moved by it. `kept`: what is in the tree is on a ref. `committing`: a HEAD that has moved to a child of the
 * base is the task's commit. `blocking`: the same for the commit that blocks the task.
 */
export type Phase = 'working' | 'kept' | 'committing' | 'blocking'

/** Writes it down before what it speaks of is done. */
export function writeInFlight(path: string, inFlight: InFlight): void {
  writeFileAtomic(path, JSON.stringify(inFlight, null, 2) + '\n')
}

/** What the last run was in the middle of; null where it ended properly, or where nothing can be read. */
export function readInFlight(path: string): InFlight | null {
  try {
    const read: unknown = JSON.parse(readFileSync(path, 'utf8'))
    return isInFlight(read) ? read : null
  } catch {
    return null
  }
}

/** The run has ended properly. */
export function clearInFlight(path: string): void {
  rmSync(path, { force: true })
}

function isInFlight(read: unknown): read is InFlight {
  return (
    typeof read === 'object' && read !== null && 'version' in read && read.version === 1 && 'mark' in read
  )
}
