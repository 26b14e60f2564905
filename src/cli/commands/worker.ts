import { UserError } from '../../base/errors.ts'
import type { RunEvent } from '../../engine/events/event.ts'
import { startWorker } from '../setup/workers.ts'
import { refuseToStart } from '../../base/world.ts'
import { accent, headed, line, type Block } from '../../screen/block.ts'
import { overridden } from '../options/option.ts'
import { WORKER_OPTIONS } from '../options/run-options.ts'
import { showJson } from '../run/show-run.ts'
import { eventLines } from '../../screen/tell.ts'
import type { ContextOf } from '../commands.ts'

type Context = ContextOf<'worker'>

/** Does jobs of a run on another machine, until the run ends. */
export async function run(context: Context): Promise<number> {
  const { io, where, json, options } = context
  if (options.jobs !== undefined && options.once)
    throw new UserError('--once does one task, and --jobs several at once', 'Leave one of them out.')
  if (options.stay && options.once)
    throw new UserError('--once ends after one task, and --stay never', 'Leave one of them out.')
  const place = overridden(await context.place(), WORKER_OPTIONS, options)
  refuseToStart(io, place.root)
  const show = json ? showJson(context).event : (event: RunEvent) => context.print(workerBlocks(event))
  const end = await startWorker(io, { where, place, options }, (event) =>
    show({ at: io.now().toISOString(), ...event }),
  )
  if (!json) context.print([line(`The worker has ended: ${end.reason}.`)])
  return end.kind === 'interrupted' ? 130 : 0
}

/** The lines of a worker for an event; without details, which the run shows. */
function workerBlocks(event: RunEvent): readonly Block[] {
  switch (event.type) {
    case 'worker-joined':
    case 'warning':
    case 'preparing':
      return eventLines(event)
    case 'attempt-started':
    case 'candidate-ready':
    case 'attempt-finished':
      return eventLines(event).map((block) => headed([accent(event.id), '  '], block))
    default:
      return []
  }
}
