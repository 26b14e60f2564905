import { join } from 'node:path'
import { closest, nameAmong } from '../base/spelling.ts'
import { UserError } from '../base/errors.ts'
import { readDiscipline } from './discipline.ts'
import { readFeature } from './feature.ts'
import { REASONS, locate, readText } from './files.ts'
import { fileNamesIn } from '../base/folder.ts'
import type { DocumentProblem, Mention } from './document.ts'
import type { Diagnostic } from '../base/diagnostic.ts'
import { placesIn } from '../base/places.ts'

/** The folders and files for prompts, relative to the project's root. */
export const DISCIPLINES = 'docs/disciplines'
export const FEATURES = 'docs/features'
export const RULES = 'docs/prompts/rules.md'
export const TEMPLATE = 'docs/prompts/task.md'
export const PRD = 'docs/PRD.md'
export const PLANS = 'docs/plans'
/** In the folder of a plan. */
export const REQUIREMENTS = 'requirements.md'

type Folder = typeof DISCIPLINES | typeof FEATURES

/** Where disciplines and features are, and how they are read. */
const DISCIPLINE = {
  what: 'discipline',
  folder: DISCIPLINES,
  rule: 'bad-discipline',
  read: readDiscipline,
} as const
const FEATURE = { what: 'feature', folder: FEATURES, rule: 'bad-feature', read: readFeature } as const

/** The discipline that a task names. */
export function findDiscipline(root: string, name: string | null) {
  return find(root, name, DISCIPLINE)
}

/** The feature that a task names. */
export function findFeature(root: string, name: string | null) {
  return find(root, name, FEATURE)
}

/** The names with a file in a folder of disciplines or features, in code unit order. */
export function namesIn(root: string, folder: Folder): readonly string[] {
  return fileNamesIn(join(root, folder))
    .filter((file) => /^[^.].*\.md$/.test(file))
    .map((file) => file.slice(0, -3))
    .toSorted()
}

/** The text of a file of the project itself; null if there is none. */
export async function readOwn(root: string, file: string): Promise<string | null> {
  const place = await locate(root, file)
  if (place.kind === 'missing') return null
  if (place.kind === 'folder') throw new UserError(`${file} is a folder, not a file`)
  const read = await readText(place)
  if (read.kind === 'named') throw new UserError(`${file} ${REASONS[read.reason]}`)
  return read.text
}

/**
 * What a name leads to, null without a file, and one sentence for each thing that is wrong with it. Lists the folder: some
 * file systems ignore case, so a lookup of the name would differ between machines.
 */
async function find<T extends { readonly problems: readonly DocumentProblem[] }>(
  root: string,
  name: string | null,
  kind: { what: string; folder: Folder; read: (name: string, source: string) => Promise<T> },
): Promise<{ readonly value: T | null; readonly warnings: readonly string[] }> {
  if (name === null) return { value: null, warnings: [] }
  const { what, folder, read } = kind
  const names = namesIn(root, folder)
  const known = nameAmong(names, name)
  const text = known === undefined ? null : await readOwn(root, `${folder}/${known}.md`)
  if (known === undefined || text === null) {
    const near = closest(name.replace(/\.md$/i, ''), names)
    const hint = near === undefined ? '' : `; did you mean ${near}?`
    const warning = `there is no ${what} ${name}: ${folder}/${name}.md does not exist${hint}`
    return { value: null, warnings: [warning] }
  }
  const value = await read(known, text)
  return { value, warnings: value.problems.map(({ message }) => `${folder}/${known}.md: ${message}`) }
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

/** Every file that a Discipline or a Feature field may name, relative to the root. */
export function libraryFiles(root: string) {
  return [DISCIPLINE, FEATURE].flatMap(({ folder, ...kind }) =>
    namesIn(root, folder).map((name) => ({ ...kind, name, file: `${folder}/${name}.md` })),
  )
}

/** Checks these files, or those of them that are wanted. */
export async function lintLibrary(
  root: string,
  nameable: Nameable,
  isWanted: (file: string) => boolean = () => true,
): Promise<readonly Diagnostic[]> {
  const wanted = libraryFiles(root).filter(({ file }) => isWanted(file))
  return (await Promise.all(wanted.map((file) => checkLibraryFile(root, file, nameable)))).flat()
}

type LibraryFile = ReturnType<typeof libraryFiles>[number]

/** Checks a discipline or a feature, whether or not a task names it. */
async function checkLibraryFile(
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
