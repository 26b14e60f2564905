import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { UnderWay } from '../backlog/json.ts'
import { withinRepository } from '../config/root.ts'

/** What a run works on now, by task. Where none is under way, this only looks for its note. */
export async function tasksUnderWay(root: string): Promise<ReadonlyMap<string, UnderWay>> {
  const folder = join(root, '.ralph')
  if (!existsSync(join(folder, 'run.json'))) return new Map()
  const [{ lockOwner }, { readStatus, runsIn }] = await Promise.all([
    import('../process/lock.ts'),
    import('../screen/read-journal.ts'),
  ])
  const held = await lockOwner(join(withinRepository(root).at(-1)!, '.ralph/lock'))
  const logs = join(folder, 'logs')
  const newest = runsIn(logs).at(-1)
  const status = held?.alive && newest !== undefined ? readStatus(logs, newest) : null
  const jobs = status?.ended === null ? status.jobs : []
  return new Map(
    jobs.map(({ id, attempt, workspace }) => {
      const worker = status?.workers.find(({ tasks }) => tasks.includes(id))?.worker ?? null
      return [id, { run: status!.run, attempt: attempt?.counted ?? null, workspace, worker }]
    }),
  )
}
