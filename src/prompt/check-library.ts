import { closest } from '../base/spelling.ts'
import type { Diagnostic } from '../base/diagnostic.ts'
import { UserError } from '../base/errors.ts'
import { placesIn } from '../base/places.ts'
import { readDiscipline } from './discipline.ts'
import type { DocumentProblem, Mention } from './document.ts'
import { readFeature } from './feature.ts'
import { DISCIPLINES, FEATURES, namesIn, readOwn } from './library.ts'

/** A discipline or a feature file, and its reader. */
interface LibraryFile {
  /** Relative to the root. */
  readonly file: string
  readonly rule: 'bad-discipline' | 'bad-feature'
  readonly read: (source: string) => Promise<{
    readonly problems: readonly DocumentProblem[]
    readonly mentions: readonly Mention[]
  }>
}

/** What such a file may name; absent means unchecked. */
interface Nameable {
  readonly agents?: readonly string[]
  /** Whether a path, relative to the root and with symlinks resolved, is outside the repository. */
  readonly isOutside?: (path: string) => boolean
}

/** The rules for such files. */
export const LIBRARY_RULES = [
  { name: 'bad-discipline', severity: 'error' },
  { name: 'bad-feature', severity: 'error' },
] as const

/** Every file that a Discipline or a Feature field may name. */
export async function libraryFiles(root: string): Promise<readonly LibraryFile[]> {
  const [disciplines, features] = await Promise.all([namesIn(root, DISCIPLINES), namesIn(root, FEATURES)])
  return [
    ...disciplines.map((name): LibraryFile => ({
      file: `${DISCIPLINES}/${name}.md`,
      rule: 'bad-discipline',
      read: (source) => readDiscipline(name, source),
    })),
    ...features.map((name): LibraryFile => ({
      file: `${FEATURES}/${name}.md`,
      rule: 'bad-feature',
      read: (source) => readFeature(name, source),
    })),
  ]
}

/** Checks a discipline or a feature, whether or not a task names it. */
export async function checkLibraryFile(
  root: string,
  { file, rule, read }: LibraryFile,
  nameable: Nameable,
): Promise<readonly Diagnostic[]> {
  try {
    const text = await readOwn(root, file)
    if (text === null) return []
    const placeOf = placesIn(text.replace(/^\ufeff/, ''))
    const { problems, mentions } = await read(text)
    const misnamed = mentions.flatMap((mention) => misnaming(mention, nameable))
    return [...problems, ...misnamed].map(({ offset, severity, message }) => ({
      file,
      ...placeOf(offset),
      severity,
      rule,
      message,
    }))
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    return [{ file, line: 1, column: 1, severity: 'error', rule, message: error.message }]
  }
}

/** The problem that the rules unknown-agent and outside-path report for the same name in a task. */
function misnaming({ kind, text, offset }: Mention, { agents, isOutside }: Nameable): DocumentProblem[] {
  const wrong = (message: string): DocumentProblem[] => [{ severity: 'error', offset, message }]
  if (kind === 'path') return isOutside?.(text) ? wrong(`"${text}" is outside the repository`) : []
  if (!agents || agents.includes(text)) return []
  const near = closest(text, agents)
  const hint = near === undefined ? '' : ` (did you mean ${near}?)`
  return wrong(`Agent "${text}" is none that ralph knows${hint}`)
}
