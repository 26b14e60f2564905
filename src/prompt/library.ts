import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { closest, nameAmong } from '../base/spelling.ts'
import { UserError } from '../base/errors.ts'
import { readDiscipline, type Discipline } from './discipline.ts'
import { readFeature, type Feature } from './feature.ts'
import { REASONS } from './material.ts'
import { locate, readText } from './files.ts'

/** The folders and files for prompts, relative to the project's root. */
export const DISCIPLINES = 'docs/disciplines'
export const FEATURES = 'docs/features'
export const RULES = 'docs/prompts/rules.md'
export const TEMPLATE = 'docs/prompts/task.md'
export const PRD = 'docs/PRD.md'
export const PLANS = 'docs/plans'
/** In the folder of a plan. */
export const REQUIREMENTS = 'requirements.md'

/** The file of a name in a task; without one, the closest name that has a file. */
export type Lookup<T> =
  { readonly found: true; readonly value: T } | { readonly found: false; readonly closest: string | null }

/** The discipline of that name. */
export function findDiscipline(root: string, name: string): Promise<Lookup<Discipline>> {
  return find(root, DISCIPLINES, name, readDiscipline)
}

/** The feature of that name. */
export function findFeature(root: string, name: string): Promise<Lookup<Feature>> {
  return find(root, FEATURES, name, readFeature)
}

/** The names with a file in a folder of disciplines or features, in code unit order. */
export async function namesIn(
  root: string,
  folder: typeof DISCIPLINES | typeof FEATURES,
): Promise<readonly string[]> {
  try {
    const files = await readdir(join(root, folder))
    return files
      .filter((file) => /^[^.].*\.md$/.test(file))
      .map((file) => file.slice(0, -3))
      .sort()
  } catch {
    // A project may have no such folder.
    return []
  }
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

/** Lists the folder: some file systems ignore case, so a lookup of the name would differ between machines. */
async function find<T>(
  root: string,
  folder: typeof DISCIPLINES | typeof FEATURES,
  name: string,
  read: (name: string, source: string) => Promise<T>,
): Promise<Lookup<T>> {
  const names = await namesIn(root, folder)
  const known = nameAmong(names, name)
  const text = known === undefined ? null : await readOwn(root, `${folder}/${known}.md`)
  if (known === undefined || text === null)
    return { found: false, closest: closest(name.replace(/\.md$/i, ''), names) ?? null }
  return { found: true, value: await read(known, text) }
}
