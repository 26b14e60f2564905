import { lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'

/** The folders that a path with forward slashes lies in, the outermost first. */
export function* foldersAbove(path: string): Iterable<string> {
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) yield path.slice(0, at)
}

/** A path as seen from a folder, with forward slashes, empty for the folder itself; null where it does not lie in it. */
export function pathWithin(folder: string, path: string): string | null {
  const from = relative(folder, path)
  if (from === '..' || from.startsWith(`..${sep}`) || isAbsolute(from)) return null
  return sep === '/' ? from : from.replaceAll(sep, '/')
}

/**
 * A path as the system itself has it: links resolved, long names, upper and lower case as on disk. What is compared as
 * text, with git's answers above all, must have come through here. Of what is not there yet only the folders are known.
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

/** When two paths are one to the file system, as git has found out: its settings of these names. */
export interface PathSpelling {
  readonly ignorecase: boolean
  readonly precomposeunicode: boolean
}

/** What two paths have in common that are spelled differently and name one file. */
export function pathKey(path: string, { ignorecase, precomposeunicode }: PathSpelling): string {
  const composed = precomposeunicode ? path.normalize('NFC') : path
  return ignorecase ? composed.toLowerCase() : composed
}

/** What is wrong with a path that is to name a file of the repository; null where nothing is. Only its text is looked at, unless somebody knows better. */
export function strayingOf(path: string, isOutside = climbsOut): string | null {
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
 * Tells where absolute paths lead, links resolved, whether or not there is anything: a link that leads nowhere yet leads
 * to what would be written through it. Folders are asked for once, so that a backlog's paths cost one look each.
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

/** As many as Linux follows: more are a ring. */
const MOST_LINKS = 40

function linkAt(path: string): string | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? readlinkSync(path) : null
  } catch {
    return null
  }
}
