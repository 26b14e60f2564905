import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { UserError } from '../../base/errors.ts'
import { formatDuration } from '../../base/time.ts'
import { formatCost, formatTokens } from '../../base/usage.ts'
import type { Phase } from './answers.ts'
import { putText, readText } from './desk.ts'
import type { PlanCommit, Took, Writing } from './note.ts'
import type { PlanPorts } from './ports.ts'

/** The files of a phase: all of them are written and committed, or none. */
export interface PhaseFiles {
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
