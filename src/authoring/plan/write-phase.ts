import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { writeFileAtomic } from '../../base/atomic-file.ts'
import { UserError } from '../../base/errors.ts'
import type { Usage } from '../../base/nouns.ts'
import { textAt } from '../../base/read-file.ts'
import { isObject, parsedJson } from '../../base/text.ts'
import { formatDuration } from '../../base/time.ts'
import { formatCost, formatTokens } from '../../base/usage.ts'
import type { RunTrace } from '../../process/tree.ts'
import type { Phase } from './answers.ts'
import { putText, readText } from './desk.ts'
import type { Plan } from './plan-file.ts'
import type { PlanPorts } from './ports.ts'

/** The files of a phase: all of them are written and committed, or none. */
interface PhaseFiles {
  readonly slug: string
  readonly phase: Phase | 'aborted'
  /** By path; null removes one. */
  readonly texts: ReadonlyMap<string, string | null>
  /** More files of the plan, which a person may have changed: they are part of the same commit. */
  readonly along: readonly string[]
  /** Null if no agent was asked. */
  readonly took: Took | null
}

/** Writes the files of a phase and commits them; returns the commit's hash, or null if none is made. */
export async function writePhase(files: PhaseFiles, ports: PlanPorts): Promise<string | null> {
  const { root } = ports.places
  const texts = [...files.texts].map(([path, after]) => [path, readText(join(root, path)), after] as const)
  const changed = texts.filter(([, before, after]) => before !== after)
  const paths = [...new Set([...changed.map(([path]) => path), ...files.along])].filter(
    (path) => existsSync(join(root, path)) || files.texts.has(path),
  )
  const commit = ports.commit ? commitOf(files, paths) : null
  return finishWriting({ phase: files.phase, texts: changed, commit }, ports)
}

/**
 * Writes and commits what a note lists: now, or after a crash, even if parts were written already. A file that
 * somebody has changed in the meantime stays theirs.
 */
export async function finishWriting(writing: Writing, ports: PlanPorts): Promise<string | null> {
  const { note, places, checkpoint, emit } = ports
  const path = (file: string): string => join(places.root, file)
  note.update({ writing })
  checkpoint('writing-noted')
  for (const [file, before, after] of writing.texts) {
    const now = readText(path(file))
    if (now === before) putText(path(file), after)
    else if (now !== after) emit({ type: 'warning', message: `${file} was changed meanwhile, and stays so` })
    checkpoint('file-written')
  }
  checkpoint('written')
  const made = writing.commit && ports.commit ? await ports.commit(writing.commit) : null
  if (made && 'problem' in made) {
    for (const [file, before, after] of writing.texts)
      if (readText(path(file)) === after) putText(path(file), before)
    note.update({ writing: null })
    throw new UserError(
      `git did not take the commit: ${made.problem}`,
      'Nothing was changed. Once that is mended: ralph plan --continue',
    )
  }
  checkpoint('committed')
  return made?.commit ?? null
}

function commitOf({ slug, phase, took }: PhaseFiles, paths: readonly string[]): PlanCommit {
  const known: [string, string | null][] = [
    ['Plan', slug],
    ['Phase', phase],
    ['Agent', took?.agent ?? null],
    ['Model', took?.model ?? null],
    ['Turns', took?.usage.turns == null ? null : String(took.usage.turns)],
    ['Duration', took ? formatDuration(took.seconds) : null],
    ['Tokens', took ? formatTokens(took.usage) : null],
    ['Cost', took?.usage.costUsd == null ? null : formatCost(took.usage.costUsd)],
  ]
  const trailers = known.flatMap(([key, value]) => (value === null ? [] : [{ key, value }]))
  return { paths, subject: `Plan(${slug}): ${phase}`, trailers }
}

/** The state of an unfinished planning, in `.ralph/`: enough to continue after any crash. */
interface PlanNote {
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
  readonly work: RunTrace | null
}

/** An answer, and what it has cost. */
interface PendingAnswer {
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
interface Writing {
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

/** Stores the note in a file; for a preview in none. */
export class NoteStore {
  readonly #path: string | null
  #kept: PlanNote | null = null

  constructor(path: string | null) {
    this.#path = path
  }

  read(): PlanNote | null {
    const found = this.#path === null ? this.#kept : parsedJson(textAt(this.#path))
    return isNote(found) ? found : null
  }

  write(note: PlanNote | null): void {
    this.#kept = note
    if (this.#path === null) return
    if (note === null) rmSync(this.#path, { force: true })
    else writeFileAtomic(this.#path, `${JSON.stringify(note, null, 2)}\n`)
  }

  /** Changes the note, if there is one. */
  update(changes: Partial<PlanNote>): void {
    const note = this.read()
    if (note) this.write({ ...note, ...changes })
  }
}

/** Another version of ralph may have written it. */
function isNote(read: unknown): read is PlanNote {
  return isObject(read) && read['version'] === 1 && 'plan' in read
}
