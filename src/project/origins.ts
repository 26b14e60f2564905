import { UserError } from '../base/errors.ts'
import type { Bridge } from '../bridge/write-back.ts'
import type { Status } from '../task/model.ts'
import { NO_ORIGINS, type Origins } from '../task/origin.ts'
import { foreignTree } from './foreign-tree.ts'

/** The backlogs of other tools that are kept in step; without any nothing is loaded. */
export async function openOrigins(bridges: readonly Bridge[], root: string): Promise<Origins> {
  const synced = bridges.filter(({ sync }) => sync)
  if (synced.length === 0) return NO_ORIGINS
  const { originFiles, originTexts } = await import('../bridge/write-back.ts')
  return {
    files: originFiles(synced, foreignTree(root)),
    async texts(task, report) {
      try {
        return originTexts(synced, foreignTree(root), { task, report })
      } catch (error) {
        // What cannot be read keeps no task from its commit: lint says that the two disagree.
        if (error instanceof UserError) return new Map<string, string>()
        throw error
      }
    },
  }
}

/** How the tasks of synced origins stand there, by path and key: for lint, which says where that is not as here. */
export async function originStatuses(
  bridges: readonly Bridge[],
  root: string,
): Promise<Readonly<Record<string, Readonly<Record<string, Status>>>> | undefined> {
  const synced = bridges.filter(({ sync }) => sync)
  if (synced.length === 0) return undefined
  const { statusesIn } = await import('../bridge/write-back.ts')
  const statuses = statusesIn(synced, foreignTree(root))
  return Object.fromEntries([...statuses].map(([path, keys]) => [path, Object.fromEntries(keys)]))
}
