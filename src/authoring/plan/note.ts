import { rmSync } from 'node:fs'
import { writeFileAtomic } from '../../base/atomic-file.ts'
import { textAt } from '../../base/read-file.ts'
import { isObject, parsedJson } from '../../base/text.ts'
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
export type NoteStore = ReturnType<typeof noteStore>

/** Stores the note in a file; for a preview in none. */
export function noteStore(path: string | null) {
  let kept: PlanNote | null = null
  const read = (): PlanNote | null => {
    const found = path === null ? kept : parsedJson(textAt(path))
    return isNote(found) ? found : null
  }
  const write = (note: PlanNote | null): void => {
    kept = note
    if (path === null) return
    if (note === null) rmSync(path, { force: true })
    else writeFileAtomic(path, `${JSON.stringify(note, null, 2)}\n`)
  }
  return {
    read,
    write,
    /** Changes the note, if there is one. */
    update(changes: Partial<PlanNote>): void {
      const note = read()
      if (note) write({ ...note, ...changes })
    },
  }
}

/** Another version of ralph may have written it. */
function isNote(read: unknown): read is PlanNote {
  return isObject(read) && read['version'] === 1 && 'plan' in read
}
