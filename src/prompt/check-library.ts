import { closest } from '../base/spelling.ts'
import type { Diagnostic } from '../base/diagnostic.ts'
import { UserError } from '../base/errors.ts'
import { placesIn } from '../base/places.ts'
import { readDiscipline } from './discipline.ts'
import type { DocumentProblem, Mention } from './document.ts'
import { readFeature } from './feature.ts'
import { DISCIPLINES, FEATURES, namesIn, readOwn } from './library.ts'

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

/** Where disciplines and features are, and how they are read. */
const KINDS = [
  { folder: DISCIPLINES, rule: 'bad-discipline', read: readDiscipline },
  { folder: FEATURES, rule: 'bad-feature', read: readFeature },
] as const

/** Every file that a Discipline or a Feature field may name, relative to the root. */
export function libraryFiles(root: string) {
  return KINDS.flatMap(({ folder, ...kind }) =>
    namesIn(root, folder).map((name) => ({ ...kind, name, file: `${folder}/${name}.md` })),
  )
}

type LibraryFile = ReturnType<typeof libraryFiles>[number]

/** Checks a discipline or a feature, whether or not a task names it. */
export async function checkLibraryFile(
  root: string,
  { file, name, rule, read }: LibraryFile,
  nameable: Nameable,
): Promise<readonly Diagnostic[]> {
  try {
    const text = await readOwn(root, file)
    if (text === null) return []
    const placeOf = placesIn(text.replace(/^\ufeff/, ''))
    const { problems, mentions } = await read(name, text)
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
