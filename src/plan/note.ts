import { readFileSync, rmSync } from 'node:fs'
import { writeFileAtomic } from '../base/atomic-file.ts'
import type { Usage } from '../events/usage.ts'
import type { Phase } from './answers.ts'
import type { Plan } from './plan-file.ts'

/** What planning is in the middle of, in `.ralph/`: enough to go on, whatever happens to this process. */
export interface PlanNote {
  readonly version: 1
  /** As it was when the phase began: of a plan's first phase nothing else is written yet. */
  readonly plan: Plan
  /** A process works on it, or has died. */
  readonly running: boolean
  /** What that has cost so far; null where nobody said. */
  readonly spentUsd: number | null
  /** An answer that was checked, and is not in files yet. */
  readonly pending: PendingAnswer | null
  readonly writing: Writing | null
  /** What an agent has started, and the tree that it began with. */
  readonly work: object | null
}

/** An answer, and what it took. */
export interface PendingAnswer {
  readonly phase: Phase
  readonly answer: unknown
  readonly took: Took
}

/** What a phase took, for its commit. */
export interface Took {
  readonly agent: string
  readonly model: string | null
  readonly usage: Usage
  readonly seconds: number
}

/** Files that are being written: the text of each before and after; null where there is none. */
export interface Writing {
  readonly phase: Phase | 'aborted'
  readonly texts: readonly (readonly [path: string, before: string | null, after: string | null])[]
  /** What the commit holds; null where none is made. */
  readonly commit: PlanCommit | null
}

/** A commit of a phase: these paths as they are. */
export interface PlanCommit {
  readonly paths: readonly string[]
  readonly subject: string
  readonly trailers: readonly { readonly key: string; readonly value: string }[]
}

/** Where the note is kept. */
export interface NoteStore {
  readonly read: () => PlanNote | null
  readonly write: (note: PlanNote | null) => void
}

/** The note in a file. */
export function noteFile(path: string): NoteStore {
  return {
    read() {
      try {
        const read: unknown = JSON.parse(readFileSync(path, 'utf8'))
        return isNote(read) ? read : null
      } catch {
        // Not there, or written by nobody that this ralph knows.
        return null
      }
    },
    write(note) {
      if (note === null) rmSync(path, { force: true })
      else writeFileAtomic(path, `${JSON.stringify(note, null, 2)}\n`)
    },
  }
}

function isNote(read: unknown): read is PlanNote {
  return (
    typeof read === 'object' && read !== null && 'version' in read && read.version === 1 && 'plan' in read
  )
}

/** A note that nobody keeps: of a preview. */
export function noNote(): NoteStore {
  let note: PlanNote | null = null
  return { read: () => note, write: (next) => void (note = next) }
}
