import { chmodSync, lstatSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf } from './errors.ts'

/** Removes a folder; one that cannot be removed, for example because it is still open, is left to a later one. */
export function removeOrLeave(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true })
  } catch {
    return
  }
}

/** Removes a folder that an agent or a gate has written, also where they have closed folders to themselves. */
export function removeAll(path: string): void {
  opening(path, () => rmSync(path, { recursive: true, force: true }))
}

/** Renames such a folder. */
export function moveAll(path: string, to: string): void {
  opening(join(path, '..'), () => renameSync(path, to), 0)
}

function opening(path: string, act: () => void, depth = Infinity): void {
  try {
    act()
  } catch (error) {
    if (!['EACCES', 'EPERM'].includes(String(codeOf(error)))) throw error
    openFolders(path, depth)
    act()
  }
}

/** Gives back to the owner the right to change folders; follows no link. */
function openFolders(path: string, depth: number): void {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (!stats?.isDirectory()) return
  chmodSync(path, stats.mode | 0o700)
  if (depth > 0) for (const name of readdirSync(path)) openFolders(join(path, name), depth - 1)
}
