import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Repository } from '../git/repository.ts'

/** git's configuration and hooks, byte for byte, by absolute path. */
export type GitSettings = ReadonlyMap<string, { readonly bytes: Buffer; readonly mode: number }>

/** Reads what decides how a commit is made and no tree holds. */
export function readGitSettings({ gitDir, commonDir }: Repository): GitSettings {
  const hooks = join(commonDir, 'hooks')
  const names = listed(hooks).filter((name) => !name.endsWith('.sample'))
  const paths = [
    join(commonDir, 'config'),
    join(gitDir, 'config.worktree'),
    join(commonDir, 'info/exclude'),
    join(commonDir, 'info/attributes'),
    ...names.map((name) => join(hooks, name)),
  ]
  const settings = new Map<string, { bytes: Buffer; mode: number }>()
  for (const path of paths) {
    const file = readFile(path)
    if (file) settings.set(path, file)
  }
  return settings
}

/** The paths that are not as they were. */
export function changedSettings(before: GitSettings, now: GitSettings): readonly string[] {
  const paths = new Set([...before.keys(), ...now.keys()])
  return [...paths].filter((path) => {
    const [old, present] = [before.get(path), now.get(path)]
    return !old || !present || old.mode !== present.mode || !old.bytes.equals(present.bytes)
  })
}

/** Puts settings back as they were, after keeping what is there now in a folder. */
export function restoreSettings(paths: readonly string[], before: GitSettings, keepIn: string): void {
  for (const path of paths) {
    const present = readFile(path)
    if (present) {
      const kept = join(keepIn, path.replaceAll(/[/\\:]+/g, '_'))
      mkdirSync(dirname(kept), { recursive: true })
      writeFileSync(kept, present.bytes)
    }
    const old = before.get(path)
    if (!old) rmSync(path, { force: true })
    else {
      mkdirSync(dirname(path), { recursive: true })
      // It may have been made read-only.
      rmSync(path, { force: true })
      writeFileSync(path, old.bytes, { mode: old.mode })
    }
  }
}

function listed(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    // A repository without hooks has no folder for them.
    return []
  }
}

function readFile(path: string): { bytes: Buffer; mode: number } | null {
  try {
    const { mode } = statSync(path)
    return { bytes: readFileSync(path), mode: mode & 0o777 }
  } catch {
    // Not there, or a folder: neither is a setting.
    return null
  }
}
