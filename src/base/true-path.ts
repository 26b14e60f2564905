import { lstatSync, readlinkSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'

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
