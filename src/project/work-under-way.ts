import { join } from 'node:path'
import { runFolder } from '../run/folder.ts'
import { readNote } from '../run/note.ts'
import { workspacesFolder } from '../workspace/own.ts'
import type { Place } from './project.ts'
import { openRepository } from './repository.ts'
import type { World } from './world.ts'

/** Work under way: its folder, and the commit that it is based on. */
export interface WorkUnderWay {
  readonly folder: string
  readonly base: string
}

/** The work of a running run at that task, in the checkout or in a workspace of ralph's own; null if there is none. */
export async function workUnderWay(
  { env }: Pick<World, 'env'>,
  { root, config }: Pick<Place, 'root' | 'config'>,
  id: string,
): Promise<WorkUnderWay | null> {
  const { repository } = await openRepository({ env }, root)
  const note = readNote(runFolder(root, repository).note)
  if (note?.attempt?.task === id && note.attempt.phase === 'working')
    return { folder: root, base: note.attempt.base.head }
  const job = note?.jobs.find(({ attempt }) => attempt.task === id && attempt.phase === 'working')
  if (!job) return null
  const { dir } = config.workspace
  const folder = workspacesFolder({ root, top: repository.root }, { dir, env })
  return { folder: join(folder, String(job.workspace)), base: job.attempt.base.head }
}
