import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { UserError } from '../../base/errors.ts'
import { openBoss } from '../../engine/workers/boss.ts'
import { Coordinator } from '../../engine/workers/coordinator.ts'
import { embeddedUrl, openEmbedded } from '../../engine/workers/embedded.ts'
import type { Queue } from '../../engine/workers/queue.ts'
import { Remote } from '../../engine/workers/remote.ts'
import { EMBEDDED, QUEUE_VARIABLE, queueUrl, shownUrl } from '../../config/queue-url.ts'
import { openWithCommit } from '../../git/open-repository.ts'
import manifest from '../../../package.json' with { type: 'json' }
import type { Agents } from '../../agents/agents.ts'
import type { Place, Project } from '../../config/project.ts'
import type { World } from '../../base/world.ts'

/** The version that a run and its workers must share. */
export const VERSION: string = manifest.version

/** The queue to use; throws with what to do if there is none. */
export function meantQueue(
  named: string | undefined,
  { env }: Pick<World, 'env'>,
  { config }: Pick<Place, 'config'>,
): string {
  const url = queueUrl(named ?? null, { env, configured: config.queue.url })
  if (url !== null) return url
  throw new UserError(
    'no queue is named',
    `Give --queue a Postgres URL, or embedded; or name it in ${QUEUE_VARIABLE}, or as "queue": { "url": … }.`,
  )
}

/** Opens the queue of a worker: an embedded one belongs to the run in this checkout. */
export async function openWorkersQueue(url: string, { root }: Pick<Place, 'root'>): Promise<Queue> {
  const at = url === EMBEDDED ? embeddedUrl(folderIn(root)) : url
  if (at !== null) return openBoss({ url: at, shown: shownUrl(at) }, packageRoots(root))
  throw new UserError(
    'no run here has had an embedded queue yet',
    'Start the run first: ralph run --loop --queue embedded. Elsewhere give the URL that it shows.',
  )
}

/** What makes the attempts of a run with a queue; it opens no queue before the run begins. */
export async function openCoordinator(
  world: World,
  project: Project,
  { queue, agents }: { queue: string; agents: Agents },
): Promise<Coordinator> {
  const { root, config, tierOf } = project
  const { pid, now, urgent } = world
  const { git } = await openWithCommit(world, root)
  const url = meantQueue(queue, world, project)
  const isEmbedded = url === EMBEDDED
  const roots = packageRoots(root)
  return new Coordinator({
    open: (warn) =>
      isEmbedded ? openEmbedded(folderIn(root), roots, warn) : openBoss({ url, shown: shownUrl(url) }, roots),
    isEmbedded,
    remote: new Remote(git, config.queue.remote),
    times: config.queue,
    version: VERSION,
    pid,
    labelsOf: async (task) => [tierOf(task).tier, ...task.tags, ...(await agents.namesFor(task))],
    now,
    urgent,
  })
}

/** Where the packages of a queue may be installed: beside ralph, and in the project. */
function packageRoots(root: string): readonly string[] {
  return [dirname(fileURLToPath(import.meta.url)), root]
}

/** The folder of a project's embedded queue. */
function folderIn(root: string): string {
  return join(root, '.ralph', 'queue')
}
