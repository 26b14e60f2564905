import { lstatSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { parseGlob, type Glob } from '../base/glob.ts'
import { locate, type FoundFile, type Located, type Surroundings } from './locate.ts'
import type { Material } from './material.ts'
import { readText } from './read-text.ts'
import { walk, type Walked } from './walk.ts'

/** Files, folders and globs named in task and feature files, most important first. */
export type Names = readonly string[]

/** The files so far, so that each is included once. */
interface Taken {
  readonly real: Set<string>
  /** How many bytes may still be read for folders and globs. */
  room: number
  /** How many paths may still be compared with globs: a prompt needs no more. */
  looks: number
}

const MOST_LOOKS = 2_000_000

/**
 * Finds and reads the files of each group of names. Each file is included once, in the first group that names it; a
 * file that is named comes before those from folders and globs.
 */
export async function collectMaterials(
  around: Surroundings,
  groups: readonly Names[],
  options: { readonly except: readonly string[]; readonly room: number },
): Promise<readonly (readonly Material[])[]> {
  const written = groups.map((names) => names.filter((name) => name.trim() !== ''))
  // Many globs may share a folder: it is located and read once.
  const folderOf = remembered((base) => locate(around.root, base))
  const walkIn = remembered((folder) => walk(around, folder))
  const placed = await Promise.all(
    written.map((names) => Promise.all(names.map((name) => target(around, name, folderOf)))),
  )
  const ignored = await ignoredOf(around, placed.flat())
  const judged = placed.map((targets) => targets.map((one) => judge(one, ignored)))
  const taken: Taken = { real: new Set(options.except), room: options.room, looks: MOST_LOOKS }
  const materials = new Map<Target, readonly Material[]>()
  for (const one of judged.flat()) if (!isMany(one)) materials.set(one, await single(one, taken))
  for (const one of judged.flat())
    if (isMany(one)) materials.set(one, await many({ around, walkIn }, one, taken))
  return judged.map((targets) => targets.flatMap((one) => materials.get(one) ?? []))
}

interface Target {
  readonly name: string
  /** Null for a plain path. */
  readonly glob: Glob | null
  /** The path's location, or that of the glob's folder. */
  readonly place: Located
}

/** A file may be called `[id].tsx`: a name is a glob only if there is no such file. */
async function target(
  { root }: Surroundings,
  written: string,
  folderOf: (base: string) => Promise<Located>,
): Promise<Target> {
  const name = written.trim()
  const pattern = parseGlob(name)
  if (pattern && isPlainlyMissing(root, name))
    return { name, glob: pattern, place: await folderOf(pattern.base || '.') }
  const place = await locate(root, name)
  const glob = place.kind === 'missing' ? pattern : null
  return { name, glob, place: glob ? await folderOf(glob.base || '.') : place }
}

/** A quick test that rules out most globs as file names. */
function isPlainlyMissing(root: string, name: string): boolean {
  if (isAbsolute(name) || name.includes('..')) return false
  try {
    return lstatSync(join(root, name), { throwIfNoEntry: false }) === undefined
  } catch {
    return false
  }
}

function remembered<T>(find: (name: string) => Promise<T>): (name: string) => Promise<T> {
  const known = new Map<string, Promise<T>>()
  return (name) => {
    const found = known.get(name) ?? find(name)
    known.set(name, found)
    return found
  }
}

async function ignoredOf(
  { isIgnored }: Surroundings,
  targets: readonly Target[],
): Promise<ReadonlySet<string>> {
  const paths = new Set(targets.flatMap(({ place }) => ('gitPaths' in place ? place.gitPaths : [])))
  return paths.size === 0 ? paths : isIgnored([...paths])
}

function judge(one: Target, ignored: ReadonlySet<string>): Target {
  const { place } = one
  if (!('gitPaths' in place) || !place.gitPaths.some((path) => ignored.has(path))) return one
  return { ...one, place: { kind: 'ignored', path: place.path } }
}

function isMany({ place, glob }: Target): boolean {
  return place.kind === 'folder' || (glob !== null && (place.kind === 'missing' || place.kind === 'file'))
}

async function single({ name, glob, place }: Target, taken: Taken): Promise<readonly Material[]> {
  if (place.kind === 'folder') return []
  if (place.kind !== 'file') {
    const path = glob ? name : place.path
    return isNew(taken, path) ? [{ kind: 'named', path, reason: place.kind, bytes: null }] : []
  }
  if (!isNew(taken, place.real)) return []
  const content = await readText(place)
  const { path, bytes } = place
  if ('reason' in content) return [{ kind: 'named', path, reason: content.reason, bytes }]
  return [{ kind: 'shown', path, stretch: null, text: content.text, bytes, listed: false }]
}

interface Folders {
  readonly around: Surroundings
  readonly walkIn: (folder: string) => Promise<Walked>
}

async function many({ around, walkIn }: Folders, one: Target, taken: Taken): Promise<readonly Material[]> {
  const { glob, place } = one
  const pattern = glob ? one.name : `${place.path || '.'}/`
  if (!isNew(taken, pattern)) return []
  if (place.kind !== 'folder') return [{ kind: 'listing', pattern, paths: [], more: false }]
  const walked = await walkIn(place.real)
  const written = (path: string): string => (place.path === '' ? path : `${place.path}/${path}`)
  const { paths, more } = glob === null ? walked : matching(walked, { glob, written }, taken)
  const shown: Material[] = []
  for (const path of paths) {
    if (taken.room <= 0) break
    const file = await locate(around.root, written(path))
    if (file.kind === 'file') shown.push(...(await listed(file, taken)))
  }
  return [{ kind: 'listing', pattern, paths: paths.map(written), more }, ...shown]
}

function matching(
  { paths, more }: Walked,
  { glob, written }: { readonly glob: Glob; readonly written: (path: string) => string },
  taken: Taken,
): Walked {
  // The paths are sorted, so those with the glob's fixed beginning are together.
  const from = firstAtLeast(paths, (path) => written(path) >= glob.start)
  const end = firstAtLeast(paths, (path) => {
    const whole = written(path)
    return whole >= glob.start && !whole.startsWith(glob.start)
  })
  const near = paths.slice(from, end).slice(0, Math.max(0, taken.looks))
  taken.looks -= near.length
  return {
    paths: near.filter((path) => glob.matches(written(path))),
    more: more || near.length < end - from,
  }
}

/** The index of the first of some sorted paths for which `isSo` is true; their number if there is none. */
function firstAtLeast(paths: readonly string[], isSo: (path: string) => boolean): number {
  let [low, high] = [0, paths.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (isSo(paths[middle]!)) high = middle
    else low = middle + 1
  }
  return low
}

/** The least that a file counts, so that many empty files have an end too. */
const BYTES_A_FILE = 100

/** Files that cannot be shown need no message: the listing names them. */
async function listed(file: FoundFile, taken: Taken): Promise<readonly Material[]> {
  if (!isNew(taken, file.real)) return []
  taken.room -= BYTES_A_FILE
  const content = await readText(file)
  if ('reason' in content) return []
  taken.room -= file.bytes
  return [
    { kind: 'shown', path: file.path, stretch: null, text: content.text, bytes: file.bytes, listed: true },
  ]
}

function isNew({ real }: Taken, path: string): boolean {
  if (real.has(path)) return false
  real.add(path)
  return true
}
