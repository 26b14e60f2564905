import { UserError } from '../base/errors.ts'
import type { Bridge } from '../backlog/formats.ts'
import { NO_ORIGINS, type Origins } from '../backlog/origin.ts'
import { isGithub } from './github.ts'
import { foreignTree } from './bridges/tree.ts'

/** Opens the backlogs of other tools that are kept in sync; loads nothing if there are none. */
export async function openOrigins(bridges: readonly Bridge[], root: string): Promise<Origins> {
  const synced = bridges.filter(({ sync, path }) => sync && !isGithub(path))
  if (synced.length === 0) return NO_ORIGINS
  const { originFiles, originTexts } = await import('./bridges/formats.ts')
  return {
    files: originFiles(synced, foreignTree(root)),
    async texts(task, report) {
      try {
        return originTexts(synced, foreignTree(root), { task, report })
      } catch (error) {
        // An unreadable origin keeps no task from its commit: lint reports the difference.
        if (error instanceof UserError) return new Map<string, string>()
        throw error
      }
    },
  }
}

/** The statuses of tasks in their synced origins, by path and key: lint reports where they differ. */
export async function originStatuses(bridges: readonly Bridge[], root: string) {
  const synced = bridges.filter(({ sync, path }) => sync && !isGithub(path))
  if (synced.length === 0) return undefined
  const { statusesIn } = await import('./bridges/formats.ts')
  return statusesIn(synced, foreignTree(root))
}

/** The backlogs of other tools at their usual places, as `ralph import` accepts them; none if one cannot be read. */
export async function foreignBacklogs(root: string): Promise<readonly string[]> {
  const { usualBacklogs } = await import('./bridges/formats.ts')
  try {
    return usualBacklogs(foreignTree(root)).map(({ path }) => path)
  } catch {
    return []
  }
}
