import { UserError } from '../../base/errors.ts'
import { refuseInside, type World } from '../../base/world.ts'
import { readNamed } from '../../config/find-task.ts'
import { openPlace, type Where } from '../../config/project.ts'
import { askRun, type ControlRequest } from '../../engine/control-socket.ts'
import { runFolder, type RunFolder } from '../../engine/folder.ts'
import { openRepository } from '../../git/open-repository.ts'
import { lockOwner, type LockOwner } from '../../process/lock.ts'
import { line } from '../../screen/block.ts'
import type { Context } from '../command.ts'
import type { ContextOf } from '../commands.ts'
import { listCandidates } from '../../git/record.ts'
import { readStatus, runsIn } from '../../screen/read-journal.ts'
import type { RunOverview } from '../../screen/run-status.ts'
import { runsView, statusView } from '../../screen/status-view.ts'

/** Makes the current run begin no further attempt. */
export const pause = (context: Context): Promise<number> => command(context, { do: 'pause' })

/** Continues a paused run. */
export const resume = (context: Context): Promise<number> => command(context, { do: 'resume' })

/** Ends the current run, after its attempt or now; or one of its workers. */
export async function stop(context: ContextOf<'stop'>): Promise<number> {
  const { now, worker } = context.options
  if (worker === undefined) return command(context, { do: 'stop', now })
  if (now)
    throw new UserError('--now ends the run, and --worker one worker', 'Ctrl-C where it runs ends it now.')
  return command(context, { do: 'drain', worker })
}

/** Leaves a task out of the current run: its attempt ends and is kept, and it stays TODO. */
export async function skip(context: Context): Promise<number> {
  const { id } = await readNamed(await context.place(), context.args[0]!)
  return command(context, { do: 'skip', task: id })
}

/** Answers an agent's question: passes it to a running agent, or writes it into the file of a blocked task. */
export async function answer(context: Context): Promise<number> {
  const [named, text] = context.args as [string, string]
  const { id, file, status, held } = await readNamed(await context.place(), named)
  const isOpen = status === 'TODO' && !held
  if (isOpen && text.trim() === '') throw new UserError('an answer needs a text', `ralph answer ${id} "MIT"`)
  const reply = isOpen ? await tryRun(context.io, context.where, { do: 'answer', task: id, text }) : null
  // Without a running question, the file shows how the task stands.
  if (reply === null) return tryAgain(context, text)
  if (!reply.ok) throw new UserError(reply.text, 'ralph status says what is asked.', 1)
  return context.answer({ id, status, file }, () => [line(reply.text)])
}

/** Makes a blocked task TODO again, with an answer to its agent's question if there is one. */
export const retry = (context: ContextOf<'retry'>): Promise<number> =>
  tryAgain(context, context.options.answer ?? null)

/** Makes a DONE task TODO again. */
export async function reopen({ io, where, args, answer }: Context): Promise<number> {
  const { reopen: work } = await import('../../authoring/commit-task-files.ts')
  const { id, file } = await work(io, where, { task: args[0]!, why: args[1]?.trim() ?? '' })
  return answer({ id, status: 'TODO', file }, () => [line(`${id} is TODO again. Next: ralph run ${id}`)])
}

async function tryAgain({ io, where, args, answer }: Context, text: string | null): Promise<number> {
  const { retry } = await import('../../authoring/commit-task-files.ts')
  const { id, file } = await retry(io, where, { task: args[0]!, answer: text })
  return answer({ id, status: 'TODO', file }, () => [line(`${id} is TODO again. Next: ralph run ${id}`)])
}

/** Sends a request to the running run, and prints its answer. Throws if there is no run, or if it refuses. */
async function command({ io, where, answer }: Context, request: ControlRequest): Promise<number> {
  const reply = await tryRun(io, where, request)
  if (reply === null)
    throw new UserError('no run is under way here', 'ralph status says how the last one ended.', 1)
  const { ok, text } = reply
  if (!ok) throw new UserError(text, 'ralph status shows the current run.', 1)
  return answer({ ok, text }, () => [line(text)])
}

/** Sends a request to the running run and returns its answer; null if no run is under way. */
export async function tryRun(world: World, where: Where, request: ControlRequest) {
  const { folder, root } = await openRuns(world, where)
  refuseInside(world, root)
  const reply = await askRun(folder, request)
  const owner = reply === null ? await livingOwner(folder) : null
  if (owner === null) return reply
  throw new UserError(
    `the ralph at work here does not listen: process ${owner.pid} on ${owner.host}`,
    'It may be about to end, or be on another machine. Ctrl-C ends it where it runs.',
    1,
  )
}

/** The folder of a checkout's runs, and the git to read beside it. */
async function openRuns(world: World, where: Where) {
  const { root } = await openPlace(where)
  const { repository, git } = await openRepository(world, root)
  return { root, git, folder: runFolder(root, repository) }
}

/** The living process that has the lock of the runs. */
export async function livingOwner(folder: RunFolder): Promise<LockOwner | null> {
  const held = await lockOwner(folder.lock)
  return held?.alive ? held.owner : null
}

type Opened = Awaited<ReturnType<typeof openRuns>>

/** Shows the current run, its tasks and questions, and candidates; or all runs of this checkout. */
export async function status({ io, where, options, answer }: ContextOf<'status'>): Promise<number> {
  const opened = await openRuns(io, where)
  if (!options.all) {
    const overview = await overviewOf(opened)
    return answer(overview, () => statusView(overview, io.now()))
  }
  const { logs } = opened.folder
  const runs = runsIn(logs)
    .toReversed()
    .flatMap((run) => readStatus(logs, run) ?? [])
  return answer({ runs }, () => runsView(runs))
}

/** The present situation, from the lock, the journals and the candidates. */
async function overviewOf({ folder, git }: Opened): Promise<RunOverview> {
  const [owner, candidates] = await Promise.all([livingOwner(folder), listCandidates(git)])
  const [newest = null, before = null] = runsIn(folder.logs)
    .slice(-2)
    .toReversed()
    .map((run) => readStatus(folder.logs, run))
  const current = owner !== null && newest?.ended === null ? newest : null
  const live = current?.queue ? await askRun(folder, { do: 'look' }).catch(() => null) : null
  return {
    run: current && { ...current, waiting: [], ...live?.queue, pid: owner!.pid, host: owner!.host },
    last: current ? before : newest,
    candidates: candidates
      // A landed candidate is dropped a little later.
      .filter(({ task }) => !newest?.completed.includes(task))
      .map(({ task, number, ref }) => ({ id: task, attempt: number, ref })),
  }
}
