import { allRuns, overviewOf } from '../run/run-control.ts'
import { runsView, statusView } from '../../screen/status-view.ts'
import type { ContextOf } from '../commands.ts'

type Context = ContextOf<'status'>

/** Shows the current run, its tasks and questions, and candidates; or all runs of this checkout. */
export async function run(context: Context): Promise<number> {
  const { io, where, options, json } = context
  if (options.all) {
    const runs = await allRuns(io, where)
    if (json) context.printJson({ version: 1, runs })
    else await context.print(runsView(runs))
    return 0
  }
  const situation = await overviewOf(io, where)
  if (json) context.printJson({ version: 1, ...situation })
  else await context.print(statusView(situation, io.now()))
  return 0
}
