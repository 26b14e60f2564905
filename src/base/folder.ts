import { readdirSync } from 'node:fs'

/** The names of what a folder holds; none where there is no such folder. */
export function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** The names of all but the folders that a folder holds; none where there is no such folder. */
export function fileNamesIn(folder: string): readonly string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true })
    return entries.flatMap((entry) => (entry.isDirectory() ? [] : [entry.name]))
  } catch {
    return []
  }
}
