import { allRuns, situationOf } from '../../project/run-control.ts'
import { runsView, statusView } from '../../ui/status-view.ts'
import type { Context } from '../command.ts'

/** Shows what goes on: the run under way, its tasks and questions, what waits to land; or every run that was here. */
export async function run(context: Context): Promise<number> {
  const { io, where, options, json } = context
  if (options.on('all')) {
    const runs = await allRuns(io, where)
    if (json) context.printJson({ version: 1, runs })
    else await context.print(runsView(runs))
    return 0
  }
  const situation = await situationOf(io, where)
  if (json) context.printJson({ version: 1, ...situation })
  else await context.print(statusView(situation, io.now()))
  return 0
}
