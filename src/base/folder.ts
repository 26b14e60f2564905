import { readdirSync } from 'node:fs'

/** The names of what a folder holds; none where there is no such folder. */
export function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
