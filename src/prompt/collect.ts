import { join } from 'node:path'
import { parseGlob, type Glob } from '../base/glob.ts'
import { locate, readText, type FoundFile, type Located, type Surroundings, type Material } from './files.ts'
import { entriesIn } from '../base/folder.ts'

/** The files so far, so that each is included once. */
interface Taken {
  readonly real: Set<string>
  /** How many bytes may still be read for folders and globs. */
  room: number
  /** How many paths may still be compared with globs: a prompt needs no more. */
  looks: number
  /** Many globs may share a folder: it is read once. */
  readonly walked: Map<string, Walked>
}

const MOST_LOOKS = 2_000_000

/**
 * Finds and reads the files of each group of names, folders and globs, most important first. Each file is included
 * once, in the first group that names it; a file that is named comes before those from folders and globs.
 */
export async function collectMaterials(
  around: Surroundings,
  groups: readonly (readonly string[])[],
  { except, room }: { except: readonly string[]; room: number },
): Promise<readonly (readonly Material[])[]> {
  const placed = await Promise.all(
    groups.map((names) =>
      Promise.all(names.filter((name) => name.trim() !== '').map((name) => target(around, name))),
    ),
  )
  const ignored = await ignoredOf(around, placed.flat())
  const judged = placed.map((targets) => targets.map((one) => judge(one, ignored)))
  const taken: Taken = { real: new Set(except), room, looks: MOST_LOOKS, walked: new Map() }
  const materials = new Map<Target, readonly Material[]>()
  for (const one of judged.flat()) if (!isMany(one)) materials.set(one, await single(one, taken))
  for (const one of judged.flat()) if (isMany(one)) materials.set(one, await many(around, one, taken))
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
async function target({ root }: Surroundings, written: string): Promise<Target> {
  const name = written.trim()
  const place = await locate(root, name)
  const glob = place.kind === 'missing' ? parseGlob(name) : null
  return { name, glob, place: glob ? await locate(root, glob.base || '.') : place }
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
  const path = glob ? name : place.path
  if (!isNew(taken, place.kind === 'file' ? place.real : path)) return []
  const read = await readText(place)
  return [read.kind === 'named' ? { ...read, path } : read]
}

async function many(around: Surroundings, one: Target, taken: Taken): Promise<readonly Material[]> {
  const { glob, place } = one
  const pattern = glob ? one.name : `${place.path || '.'}/`
  if (!isNew(taken, pattern)) return []
  if (place.kind !== 'folder') return [{ kind: 'listing', pattern, paths: [], more: false }]
  const walked = taken.walked.get(place.real) ?? (await walk(around, place.real))
  taken.walked.set(place.real, walked)
  const written = walked.paths.map((path) => under(place.path, path))
  const looked = glob ? written.slice(0, Math.max(0, taken.looks)) : written
  if (glob) taken.looks -= looked.length
  const paths = glob ? looked.filter((path) => glob.matches(path)) : looked
  const more = walked.more || looked.length < written.length
  const found: Material[] = [{ kind: 'listing', pattern, paths, more }]
  for (const path of paths) {
    if (taken.room <= 0) break
    const file = await locate(around.root, path)
    if (file.kind === 'file') found.push(...(await listed(file, taken)))
  }
  return found
}

/** The least that a file counts, so that many empty files have an end too. */
const BYTES_A_FILE = 100

/** Files that cannot be shown need no message: the listing names them. */
async function listed(file: FoundFile, taken: Taken): Promise<readonly Material[]> {
  if (!isNew(taken, file.real)) return []
  taken.room -= BYTES_A_FILE
  const read = await readText(file)
  if (read.kind === 'named') return []
  taken.room -= file.bytes
  return [{ ...read, listed: true }]
}

function isNew({ real }: Taken, path: string): boolean {
  if (real.has(path)) return false
  real.add(path)
  return true
}

/** The files below a folder, in code unit order. */
interface Walked {
  /** Relative to the folder, with forward slashes. */
  readonly paths: readonly string[]
  /** Whether the folder has more files. */
  readonly more: boolean
}

/** A prompt needs no more. */
const MOST_ENTRIES = 20_000

/**
 * Finds the files below a folder, level by level, so that git runs once a level. Leaves out what git ignores, and
 * links: their targets are in the project under their own name, or outside of it.
 */
async function walk({ root, isIgnored }: Surroundings, folder: string): Promise<Walked> {
  const files: string[] = []
  let level: readonly string[] = ['']
  let seen = 0
  while (level.length > 0 && seen < MOST_ENTRIES) {
    // A folder that cannot be read, or was deleted, counts as empty.
    const entries = level.flatMap((path) =>
      entriesIn(join(root, folder, path))
        .filter((entry) => entry.name !== '.git' && (entry.isFile() || entry.isDirectory()))
        .map((entry) => ({ path: under(path, entry.name), isFile: entry.isFile() })),
    )
    seen += entries.length
    const ignored =
      entries.length === 0 ? new Set() : await isIgnored(entries.map(({ path }) => under(folder, path)))
    const kept = entries.filter(({ path }) => !ignored.has(under(folder, path)))
    files.push(...kept.filter((entry) => entry.isFile).map(({ path }) => path))
    level = kept.filter((entry) => !entry.isFile).map(({ path }) => path)
  }
  return { paths: files.sort(), more: level.length > 0 }
}

function under(folder: string, path: string): string {
  return folder === '' ? path : `${folder}/${path}`
}
