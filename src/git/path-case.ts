import { basename, dirname, join } from 'node:path'
import { namesIn } from '../base/folder.ts'
import { foldersAbove, pathKey } from '../base/paths.ts'
import type { Git } from './git.ts'
import { pathSpelling } from './repository.ts'

const ANY_SPELLING = { ignorecase: true, precomposeunicode: true }

/**
 * Returns a function that maps all spellings of a path to one key, so that a file whose name changes only in case is known as one.
 * Asks git only if some of these paths differ only in case.
 */
export async function keysOf(git: Git, paths: readonly string[]): Promise<(path: string) => string> {
  const alike = new Set(paths.map((path) => pathKey(path, ANY_SPELLING)))
  if (alike.size === new Set(paths).size) return (path) => path
  const spelling = await pathSpelling(git)
  return (path) => pathKey(path, spelling)
}

/** Whether a path is spelled exactly so on disk, with its folders. */
export function isSpelledSo(root: string, path: string): boolean {
  return [...foldersAbove(path), path].every((each) => namesBeside(root, each).includes(basename(each)))
}

function namesBeside(root: string, path: string): readonly string[] {
  return namesIn(join(root, dirname(path)))
}
