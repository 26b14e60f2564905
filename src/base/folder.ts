import { readdirSync } from 'node:fs'

/** The names in a folder; none if there is no such folder. */
export function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** The names in a folder, without those of folders; none if there is no such folder. */
export function fileNamesIn(folder: string): readonly string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true })
    return entries.flatMap((entry) => (entry.isDirectory() ? [] : [entry.name]))
  } catch {
    return []
  }
}
