import { lstatSync, renameSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { namesIn } from '../base/folder.ts'
import { foldersAbove, pathKey, type PathSpelling } from '../base/paths.ts'
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

/** A door for which two spellings are two files. */
export function exact(git: Git): Git {
  return git.with({ settings: { 'core.ignorecase': 'false' } })
}

/** Maps the key of each path to the path. */
export function byKey(paths: readonly string[], spelling: PathSpelling): ReadonlyMap<string, string> {
  return new Map(paths.map((path) => [pathKey(path, spelling), path]))
}

/**
 * Files whose spelling on disk differs from the door's index, if git takes both for one file: from the name on disk
 * to the name in the index. git itself does not see such a change, and would commit the old name.
 */
export async function respelledFiles(git: Git, spelling: PathSpelling): Promise<ReadonlyMap<string, string>> {
  if (!spelling.ignorecase) return new Map()
  const onDisk = await namesOf(exact(git), ['--others', '--exclude-standard'])
  if (onDisk.length === 0) return new Map()
  const held = byKey(await namesOf(git, ['--cached']), spelling)
  return new Map(
    onDisk.flatMap((path): [string, string][] => {
      const name = held.get(pathKey(path, spelling))
      return name === undefined ? [] : [[path, name]]
    }),
  )
}

async function namesOf(git: Git, which: readonly string[]): Promise<readonly string[]> {
  const { stdout } = await git.run(['ls-files', '-z', ...which])
  return stdout.toString().split('\0').filter(Boolean)
}

/** Whether two paths lead to the same file. */
export function isSameFile(root: string, path: string, other: string): boolean {
  const [one, two] = [path, other].map((each) =>
    lstatSync(join(root, each), { throwIfNoEntry: false, bigint: true }),
  )
  return one !== undefined && two !== undefined && one.ino === two.ino && one.dev === two.dev
}

/** Whether a path is spelled exactly so on disk, with its folders. */
export function isSpelledSo(root: string, path: string): boolean {
  return [...foldersAbove(path), path].every((each) => namesBeside(root, each).includes(basename(each)))
}

/** Renames files and folders on disk to the spelling of a path: git keeps the old spelling of a folder that is not empty. */
export function spellOnDisk(root: string, path: string): void {
  for (const each of [...foldersAbove(path), path]) {
    const names = namesBeside(root, each)
    const wanted = basename(each)
    const key = pathKey(wanted, ANY_SPELLING)
    const found = names.includes(wanted)
      ? undefined
      : names.find((name) => pathKey(name, ANY_SPELLING) === key)
    if (found === undefined) continue
    try {
      renameSync(join(root, dirname(each), found), join(root, each))
    } catch {
      // Both names lead to the same file.
      return
    }
  }
}

function namesBeside(root: string, path: string): readonly string[] {
  return namesIn(join(root, dirname(path)))
}
