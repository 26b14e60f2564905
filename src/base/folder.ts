import { readdirSync, type Dirent } from 'node:fs'

/** What is in a folder; nothing if there is no such folder. */
export function entriesIn(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}

/** The names in a folder. */
export function namesIn(folder: string): readonly string[] {
  return entriesIn(folder).map(({ name }) => name)
}

/** The names in a folder, without those of folders. */
export function fileNamesIn(folder: string): readonly string[] {
  return entriesIn(folder).flatMap((entry) => (entry.isDirectory() ? [] : [entry.name]))
}

/** The names of the folders in a folder. */
export function folderNamesIn(folder: string): readonly string[] {
  return entriesIn(folder).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []))
}
