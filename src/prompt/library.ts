import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { closest, nameAmong } from '../base/spelling.ts'
import { UserError } from '../base/errors.ts'
import { readDiscipline, type Discipline } from './discipline.ts'
import { readFeature, type Feature } from './feature.ts'
import { locate } from './locate.ts'
import { REASONS } from './material.ts'
import { readText } from './read-text.ts'

/** Where a project keeps what prompts are made from, relative to its root. */
export const DISCIPLINES = 'docs/disciplines'
export const FEATURES = 'docs/features'
export const RULES = 'docs/prompts/rules.md'
export const TEMPLATE = 'docs/prompts/task.md'
export const PRD = 'docs/PRD.md'
export const PLANS = 'docs/plans'
/** In the folder of a plan. */
export const REQUIREMENTS = 'requirements.md'

/** A name that a task gives, and what it leads to; else the closest name that has a file. */
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

/** The names that have a file in a folder of disciplines or features, in the order of their code units. */
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
    // No such folder: the project does without.
    return []
  }
}

/** The text of a file that the project itself provides, or null where it has none. */
export async function readOwn(root: string, file: string): Promise<string | null> {
  const place = await locate(root, file)
  if (place.kind === 'missing') return null
  if (place.kind === 'folder') throw new UserError(`${file} is a folder, not a file`)
  if (place.kind !== 'file') throw new UserError(`${file} ${REASONS[place.kind]}`)
  const content = await readText(place)
  if ('reason' in content) throw new UserError(`${file} ${REASONS[content.reason]}`)
  return content.text
}

/** The folder is listed, not probed: on some systems a file answers to its name in any case, and so would differ by machine. */
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
