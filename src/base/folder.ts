import { readdirSync, type Dirent } from 'node:fs'

/** What is in a folder; nothing if there is no such folder. */
export function entriesIn(folder: string): readonly Dirent[] {
  return orNothing(() => readdirSync(folder, { withFileTypes: true }))
}

/** The names in a folder: several times as fast as what they are. */
export function namesIn(folder: string): readonly string[] {
  return orNothing(() => readdirSync(folder))
}

function orNothing<T>(read: () => readonly T[]): readonly T[] {
  try {
    return read()
  } catch {
    return []
  }
}

/** The names in a folder, without those of folders. */
export function fileNamesIn(folder: string): readonly string[] {
  return entriesIn(folder).flatMap((entry) => (entry.isDirectory() ? [] : [entry.name]))
}

/** The names of the folders in a folder. */
export function folderNamesIn(folder: string): readonly string[] {
  return entriesIn(folder).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []))
}

/** The folder of `docs/tasks/**`, which means all folders below it, too; null for any other name. */
export function deepFolder(name: string): string | null {
  return name === '**' ? '.' : name.endsWith('/**') ? name.slice(0, -'/**'.length) : null
}

/** A folder, relative to a root, and all below it; those that are hidden, links or packages are left out. */
export function foldersUnder(root: string, folder: string): readonly string[] {
  const below = folderNamesIn(`${root}/${folder}`).filter((name) => !NO_FOLDER.test(name))
  return [folder, ...below.flatMap((name) => foldersUnder(root, folder === '.' ? name : `${folder}/${name}`))]
}

const NO_FOLDER = /^(?:\.|node_modules$)/
