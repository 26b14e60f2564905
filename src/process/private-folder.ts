import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { cacheFolder } from '../base/cache-folder.ts'
import type { Environment } from './mark.ts'
import { isAlive } from './table.ts'

/**
 * A new folder that only this user can read, for one process; what a ralph that died has left of that kind goes. It is
 * in the cache folder of the home: no settings below a folder that others can write to, as `/tmp`, are read by Gemini.
 */
export function makePrivateFolder(kind: string, env: Environment): string {
  const parent = cacheFolder(env)
  if (parent !== null) {
    try {
      mkdirSync(parent, { recursive: true, mode: 0o700 })
      sweep(parent, kind)
      return mkdtempSync(join(parent, `${prefixOf(kind)}${process.pid}-`))
    } catch {
      // A home that cannot be written to, as in a container.
    }
  }
  return mkdtempSync(join(tmpdir(), `ralph-${kind}-`))
}

/** What cannot be removed, as where somebody still has it open, is left to a later sweep: it says nothing of the work. */
export function removeOrLeave(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true })
  } catch {
    return
  }
}

/** A home may be shared by machines, whose processes cannot be asked for. */
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
