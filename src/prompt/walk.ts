import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Surroundings } from './locate.ts'

/** The files below a folder, in code unit order. */
export interface Walked {
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
export async function walk({ root, isIgnored }: Surroundings, folder: string): Promise<Walked> {
  const files: string[] = []
  let level: readonly string[] = ['']
  let seen = 0
  while (level.length > 0 && seen < MOST_ENTRIES) {
    const entries = (await Promise.all(level.map((path) => entriesOf(root, folder, path)))).flat()
    seen += entries.length
    const ignored =
      entries.length === 0 ? new Set() : await isIgnored(entries.map(({ path }) => under(folder, path)))
    const kept = entries.filter(({ path }) => !ignored.has(under(folder, path)))
    files.push(...kept.filter((entry) => entry.isFile).map(({ path }) => path))
    level = kept.filter((entry) => !entry.isFile).map(({ path }) => path)
  }
  return { paths: files.sort(), more: level.length > 0 }
}

interface Entry {
  readonly path: string
  readonly isFile: boolean
}

async function entriesOf(root: string, folder: string, path: string): Promise<readonly Entry[]> {
  try {
    const entries = await readdir(join(root, folder, path), { withFileTypes: true })
    return entries
      .filter((entry) => entry.name !== '.git' && (entry.isFile() || entry.isDirectory()))
      .map((entry) => ({ path: under(path, entry.name), isFile: entry.isFile() }))
  } catch {
    // A folder that cannot be read, or was deleted, counts as empty.
    return []
  }
}

function under(folder: string, path: string): string {
  return folder === '' ? path : `${folder}/${path}`
}
