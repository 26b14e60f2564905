import { mkdirSync, mkdtempSync, readdirSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { cacheFolder } from '../base/cache-folder.ts'
import type { Environment } from './mark.ts'
import { isAlive } from './table.ts'
import { removeOrLeave } from '../base/remove.ts'

/**
 * Makes a new folder that only this user can read, for one process, and removes those that dead ralphs have left. It is
 * in the home's cache folder, because Gemini reads no settings below a folder that others can write to, such as `/tmp`.
 */
export function makePrivateFolder(kind: string, env: Environment): string {
  const parent = cacheFolder(env)
  if (parent !== null) {
    try {
      mkdirSync(parent, { recursive: true, mode: 0o700 })
      sweep(parent, kind)
      return mkdtempSync(join(parent, `${prefixOf(kind)}${process.pid}-`))
    } catch {
      // The home may be read-only, as in a container.
    }
  }
  return mkdtempSync(join(tmpdir(), `ralph-${kind}-`))
}

/** Machines may share a home, and one cannot see another's processes. */
function prefixOf(kind: string): string {
  return `${kind}-${hostname()}-`
}

function sweep(parent: string, kind: string): void {
  const prefix = prefixOf(kind)
  for (const name of readdirSync(parent)) {
    const pid = name.startsWith(prefix) ? /^(\d+)-/.exec(name.slice(prefix.length))?.[1] : undefined
    if (pid !== undefined && !isAlive(Number(pid))) removeOrLeave(join(parent, name))
  }
}
