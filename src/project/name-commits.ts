import { composeMessage } from '../git/trailers.ts'
import { setCommit } from '../task/finish.ts'
import { readBacklog } from '../task/read.ts'
import { counted } from '../base/counted.ts'
import { commitTaskFiles } from './commit-task-files.ts'
import type { Place } from './project.ts'
import type { World } from './world.ts'

/** Writes the Commit fields of these tasks anew, each with as many digits as it had, in one commit. */
export async function nameCommits(
  world: World,
  place: Place,
  commits: ReadonlyMap<string, string>,
): Promise<void> {
  const { root, vocabulary } = place
  const { tasks } = await readBacklog(place)
  const texts = tasks.flatMap((task): [string, string][] => {
    const commit = commits.get(task.id)
    const name = commit?.slice(0, digitsOf(task.commit))
    return name === undefined ? [] : [[task.file, setCommit(task, name, vocabulary)]]
  })
  const subject = `Name the commits that completed ${counted(texts.length, 'task')}`
  const message = composeMessage({ subject, body: [...commits.keys()].join(', '), trailers: [] })
  await commitTaskFiles(world, { root, texts: new Map(texts), message })
}

/** A field that is no hash gets as many as git usually shows. */
function digitsOf(named: string | null): number {
  return named !== null && /^[0-9a-f]{4,64}$/i.test(named) ? named.length : 7
}
