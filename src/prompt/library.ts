import { join } from 'node:path'
import { closest, nameAmong } from '../base/spelling.ts'
import { UserError } from '../base/errors.ts'
import { readDiscipline, type Discipline } from './discipline.ts'
import { readFeature, type Feature } from './feature.ts'
import { REASONS } from './material.ts'
import { locate, readText } from './files.ts'
import { fileNamesIn } from '../base/folder.ts'
import type { DocumentProblem } from './document.ts'

/** The folders and files for prompts, relative to the project's root. */
export const DISCIPLINES = 'docs/disciplines'
export const FEATURES = 'docs/features'
export const RULES = 'docs/prompts/rules.md'
export const TEMPLATE = 'docs/prompts/task.md'
export const PRD = 'docs/PRD.md'
export const PLANS = 'docs/plans'
/** In the folder of a plan. */
export const REQUIREMENTS = 'requirements.md'

/** The discipline that a task names. */
export function findDiscipline(root: string, name: string | null): Promise<Found<Discipline>> {
  return find(root, { what: 'discipline', folder: DISCIPLINES, read: readDiscipline }, name)
}

/** The feature that a task names. */
export function findFeature(root: string, name: string | null): Promise<Found<Feature>> {
  return find(root, { what: 'feature', folder: FEATURES, read: readFeature }, name)
}

/** The names with a file in a folder of disciplines or features, in code unit order. */
export function namesIn(root: string, folder: typeof DISCIPLINES | typeof FEATURES): readonly string[] {
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

/** What a name leads to, and one sentence for each thing that is wrong with it; null without a file. */
interface Found<T> {
  readonly value: T | null
  readonly warnings: readonly string[]
}

interface Kind<T> {
  readonly what: string
  readonly folder: typeof DISCIPLINES | typeof FEATURES
  readonly read: (name: string, source: string) => Promise<T>
}

/** Lists the folder: some file systems ignore case, so a lookup of the name would differ between machines. */
async function find<T extends { readonly problems: readonly DocumentProblem[] }>(
  root: string,
  { what, folder, read }: Kind<T>,
  name: string | null,
): Promise<Found<T>> {
  if (name === null) return { value: null, warnings: [] }
  const names = namesIn(root, folder)
  const known = nameAmong(names, name)
  const text = known === undefined ? null : await readOwn(root, `${folder}/${known}.md`)
  if (known === undefined || text === null) {
    const near = closest(name.replace(/\.md$/i, ''), names)
    const hint = near === undefined ? '' : `; did you mean ${near}?`
    return {
      value: null,
      warnings: [`there is no ${what} ${name}: ${folder}/${name}.md does not exist${hint}`],
    }
  }
  const value = await read(known, text)
  return { value, warnings: value.problems.map(({ message }) => `${folder}/${known}.md: ${message}`) }
}
