import { UserError } from '../../base/errors.ts'
import type { RunStatus, RunOverview } from '../../screen/run-status.ts'
import { listCandidates } from '../../git/record.ts'
import { askRun, type ControlRequest } from '../../engine/control-socket.ts'
import { runFolder, type RunFolder } from '../../engine/folder.ts'
import { lockOwner, type LockOwner } from '../../process/lock.ts'
import { readStatus, runsIn } from '../../screen/read-journal.ts'
import { openPlace, type Where } from '../../config/project.ts'
import { openRepository } from '../../git/open-repository.ts'
import { refuseInside, type World } from '../../base/world.ts'

/** The present situation, from the lock, the journals and the candidates. */
export async function overviewOf(world: World, where: Where): Promise<RunOverview> {
  const { folder, git } = await openFolder(world, where)
  const [owner, candidates] = await Promise.all([livingOwner(folder), listCandidates(git)])
  const [newest, before] = runsIn(folder.logs).toReversed().slice(0, 2)
  const status = newest === undefined ? null : readStatus(folder.logs, newest)
  const isUnderWay = owner !== null && status !== null && status.ended === null
  const last = isUnderWay ? (before === undefined ? null : readStatus(folder.logs, before)) : status
  return {
    run: isUnderWay ? { ...status, pid: owner.pid, host: owner.host } : null,
    last,
    candidates: candidates
      // A landed candidate is dropped a little later.
      .filter(({ task }) => !status?.completed.includes(task))
      .map(({ task, number, ref }) => ({ id: task, attempt: number, ref })),
  }
}

/** Every run with a journal, newest first. */
export async function allRuns(world: World, where: Where): Promise<readonly RunStatus[]> {
  const { folder } = await openFolder(world, where)
  return runsIn(folder.logs)
    .toReversed()
    .flatMap((run) => readStatus(folder.logs, run) ?? [])
}

/** Sends a request to the running run and returns its answer. Throws if there is no run, or if it refuses. */
export async function commandRun(world: World, where: Where, request: ControlRequest): Promise<string> {
  const reply = await tryRun(world, where, request)
  if (reply === null)
    throw new UserError('no run is under way here', 'ralph status says how the last one ended.', 1)
  if (!reply.ok) throw new UserError(reply.text, 'ralph status shows the current run.', 1)
  return reply.text
}

/** Does the same; null if no run is under way. */
export async function tryRun(world: World, where: Where, request: ControlRequest) {
  const { folder, root } = await openFolder(world, where)
  refuseInside(world, root)
  const reply = await askRun(folder, request)
  if (reply !== null) return reply
  const owner = await livingOwner(folder)
  if (owner === null) return null
  throw new UserError(
    `the ralph at work here does not listen: process ${owner.pid} on ${owner.host}`,
    'It may be about to end, or be on another machine. Ctrl-C ends it where it runs.',
    1,
  )
}

async function livingOwner(folder: RunFolder): Promise<LockOwner | null> {
  const held = await lockOwner(folder.lock)
  return held?.alive ? held.owner : null
}

async function openFolder(world: World, where: Where) {
  const { root } = await openPlace(where)
  const { repository, git } = await openRepository(world, root)
  return { root, git, folder: runFolder(root, repository) }
}
