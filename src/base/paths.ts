import { lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'

/** The folders that contain a path with forward slashes, outermost first. */
export function* foldersAbove(path: string): Iterable<string> {
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) yield path.slice(0, at)
}

/** A path relative to a folder, with forward slashes, empty for the folder itself; null if it is not inside. */
export function pathWithin(folder: string, path: string): string | null {
  const from = relative(folder, path)
  if (from === '..' || from.startsWith(`..${sep}`) || isAbsolute(from)) return null
  return sep === '/' ? from : from.replaceAll(sep, '/')
}

/**
 * A path as the system itself has it: links resolved, long names, upper and lower case as on disk. Convert paths by it
 * before they are compared as text, above all with git's. For a missing file only its folders are converted.
 */
export function nativePath(path: string, read: (path: string) => string = realpathSync.native): string {
  const full = resolve(path)
  try {
    return read(full)
  } catch {
    const parent = dirname(full)
    return parent === full ? full : join(nativePath(parent, read), basename(full))
  }
}

/** git's settings on which different paths are the same to the file system. */
export interface PathSpelling {
  readonly ignorecase: boolean
  readonly precomposeunicode: boolean
}

/** A key that is equal for all spellings of a file's path. */
export function pathKey(path: string, { ignorecase, precomposeunicode }: PathSpelling): string {
  const composed = precomposeunicode ? path.normalize('NFC') : path
  return ignorecase ? composed.toLowerCase() : composed
}

/** Why a path may not name a file of the repository; null if it may. Only tests its text, unless `isOutside` knows more. */
export function whyOutside(path: string, isOutside = climbsOut): string | null {
  if (/^(?:[/\\~]|[A-Za-z]:[/\\])/.test(path)) return 'is not relative to the root'
  return isOutside(path) ? 'is outside the repository' : null
}

/** Whether the path leads above the root. */
function climbsOut(path: string): boolean {
  let depth = 0
  for (const part of path.split(/[/\\]/)) {
    if (part === '..') depth--
    else if (part !== '' && part !== '.') depth++
    if (depth < 0) return true
  }
  return false
}

/**
 * Resolves the links in absolute paths, also of missing files: a dangling link leads to the file that writing through
 * it would create. Caches folders, so that each of a backlog's paths costs one lookup.
 */
export function truePaths(): (path: string) => string {
  const folders = new Map<string, string>()
  const folderAt = (path: string, links: number): string => {
    const known = folders.get(path) ?? follow(path, links)
    folders.set(path, known)
    return known
  }
  const follow = (path: string, links: number): string => {
    const parent = dirname(path)
    if (parent === path) return path
    const place = join(folderAt(parent, links), basename(path))
    const target = linkAt(place)
    return target === null || links === MOST_LINKS
      ? place
      : follow(resolve(dirname(place), target), links + 1)
  }
  return (path) => follow(path, 0)
}

/** As many as Linux follows: more are a cycle. */
const MOST_LINKS = 40

function linkAt(path: string): string | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? readlinkSync(path) : null
  } catch {
    return null
  }
}
