import { listCandidates } from '../../git/record.ts'
import { readStatus, runsIn } from '../../screen/read-journal.ts'
import type { RunOverview } from '../../screen/run-status.ts'
import { runsView, statusView } from '../../screen/status-view.ts'
import type { ContextOf } from '../commands.ts'
import { livingOwner, openRuns } from './control.ts'

type Opened = Awaited<ReturnType<typeof openRuns>>

/** Shows the current run, its tasks and questions, and candidates; or all runs of this checkout. */
export async function run({ io, where, options, answer }: ContextOf<'status'>): Promise<number> {
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
  return {
    run: current && { ...current, pid: owner!.pid, host: owner!.host },
    last: current ? before : newest,
    candidates: candidates
      // A landed candidate is dropped a little later.
      .filter(({ task }) => !newest?.completed.includes(task))
      .map(({ task, number, ref }) => ({ id: task, attempt: number, ref })),
  }
}
