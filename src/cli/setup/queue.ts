import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { UserError } from '../../base/errors.ts'
import type { Git } from '../../git/git.ts'
import type { Task } from '../../backlog/model.ts'
import { openBoss } from '../../engine/workers/boss.ts'
import { Coordinator } from '../../engine/workers/coordinator.ts'
import { embeddedUrl, openEmbedded } from '../../engine/workers/embedded.ts'
import type { Queue } from '../../engine/workers/queue.ts'
import { Remote } from '../../engine/workers/remote.ts'
import { EMBEDDED, QUEUE_VARIABLE, queueUrl, shownUrl } from '../../config/queue-url.ts'
import manifest from '../../../package.json' with { type: 'json' }
import type { Agents } from '../../agents/agents.ts'
import type { Place, Project } from '../../config/project.ts'
import type { World } from '../../base/world.ts'

/** The version that a run and its workers must share. */
export const VERSION: string = manifest.version

/** Where the packages of a queue may be installed: beside ralph, and in the project. */
function packageRoots({ root }: Pick<Place, 'root'>): readonly string[] {
  return [dirname(fileURLToPath(import.meta.url)), root]
}

/** The queue to use; throws with what to do if there is none. */
export function meantQueue(
  named: string | undefined,
  world: Pick<World, 'env'>,
  { config }: Pick<Place, 'config'>,
): string {
  const url = queueUrl(named ?? null, { env: world.env, configured: config.queue.url })
  if (url !== null) return url
  throw new UserError(
    'no queue is named',
    `Give --queue a Postgres URL, or embedded; or name it in ${QUEUE_VARIABLE}, or as "queue": { "url": … }.`,
  )
}

/** The same URL without its password. */
export function shownQueue(...request: Parameters<typeof meantQueue>): string {
  return shownUrl(meantQueue(...request))
}

/** The folder of a project's embedded queue. */
function queueFolder({ root }: Pick<Place, 'root'>): string {
  return join(root, '.ralph', 'queue')
}

/** Opens the queue of a worker: an embedded one belongs to the run in this checkout. */
export async function openWorkersQueue(url: string, place: Pick<Place, 'root'>): Promise<Queue> {
  const at = url === EMBEDDED ? embeddedUrl(queueFolder(place)) : url
  if (at !== null) return openBoss({ url: at, shown: shownUrl(at) }, packageRoots(place))
  throw new UserError(
    'no run here has had an embedded queue yet',
    'Start the run first: ralph run --loop --queue embedded. Elsewhere give the URL that it shows.',
  )
}

/** What makes the attempts of a run with a queue; it opens nothing before the run begins. */
export function openCoordinator(
  world: World,
  project: Project,
  { queue, agents, git }: { readonly queue: string; readonly agents: Agents; readonly git: Git },
): Coordinator {
  const { config, tierOf } = project
  const url = meantQueue(queue, world, project)
  const remote = new Remote(git, config.queue.remote)
  const roots = packageRoots(project)
  const labelsOf = async (task: Task): Promise<readonly string[]> => [
    tierOf(task).tier,
    ...task.tags,
    ...(await agents.namesFor(task)),
  ]
  return new Coordinator({
    open: (warn) =>
      url === EMBEDDED
        ? openEmbedded(queueFolder(project), roots, warn)
        : openBoss({ url, shown: shownUrl(url) }, roots),
    isEmbedded: url === EMBEDDED,
    remote,
    times: config.queue,
    version: VERSION,
    pid: world.pid,
    labelsOf,
    now: world.now,
    urgent: world.urgent,
  })
}
