import { readFileSync, rmSync } from 'node:fs'
import { writeFileAtomic } from '../../base/atomic-file.ts'
import type { Usage } from '../../base/nouns.ts'
import type { Phase } from './answers.ts'
import type { Plan } from './plan-file.ts'

/** The state of an unfinished planning, in `.ralph/`: enough to continue after any crash. */
export interface PlanNote {
  readonly version: 1
  /** As it was when the phase began: for a plan's first phase nothing else is written yet. */
  readonly plan: Plan
  /** Whether a process works on it, or died while it did. */
  readonly running: boolean
  /** The cost so far; null if it is unknown. */
  readonly spentUsd: number | null
  /** A checked answer that is not written to files yet. */
  readonly pending: PendingAnswer | null
  readonly writing: Writing | null
  /** What an agent has started, and the tree before it. */
  readonly work: object | null
}

/** An answer, and what it has cost. */
export interface PendingAnswer {
  readonly phase: Phase
  readonly answer: unknown
  readonly took: Took
}

/** The cost of a phase, for its commit. */
export interface Took {
  readonly agent: string
  readonly model: string | null
  readonly usage: Usage
  readonly seconds: number
}

/** Files that are being written: the text of each before and after; null for no file. */
export interface Writing {
  readonly phase: Phase | 'aborted'
  readonly texts: readonly (readonly [path: string, before: string | null, after: string | null])[]
  /** The content of the commit; null for none. */
  readonly commit: PlanCommit | null
}

/** A commit of a phase: these paths as they are. */
export interface PlanCommit {
  readonly paths: readonly string[]
  readonly subject: string
  readonly trailers: readonly { readonly key: string; readonly value: string }[]
}

/** Where the note is stored. */
export interface NoteStore {
  readonly read: () => PlanNote | null
  readonly write: (note: PlanNote | null) => void
}

/** Stores the note in a file. */
export function noteFile(path: string): NoteStore {
  return {
    read() {
      try {
        const read: unknown = JSON.parse(readFileSync(path, 'utf8'))
        return isNote(read) ? read : null
      } catch {
        // There is none, or another version of ralph wrote it.
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

/** Stores nothing, for a preview. */
export function noNote(): NoteStore {
  let note: PlanNote | null = null
  return { read: () => note, write: (next) => void (note = next) }
}
