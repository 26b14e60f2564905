import { UserError } from '../../base/errors.ts'
import type { RunEvent } from '../../engine/events/event.ts'
import { openPlace } from '../../config/project.ts'
import { startWorker } from '../setup/start-worker.ts'
import { refuseToStart } from '../../base/world.ts'
import { accent, headed, line, type Block } from '../../screen/block.ts'
import { overridden } from '../options/option.ts'
import { WORKER_OPTIONS } from '../options/run-options.ts'
import { printableJson } from '../../screen/printable.ts'
import { told } from '../../screen/tell.ts'
import type { ContextOf } from '../commands.ts'

type Context = ContextOf<'worker'>

/** Does jobs of a run on another machine, until the run ends. */
export async function run(context: Context): Promise<number> {
  const { io, where, json } = context
  const { options } = context
  if (options.jobs !== undefined && options.once)
    throw new UserError('--once does one task, and --jobs several at once', 'Leave one of them out.')
  const place = overridden(await openPlace(where), WORKER_OPTIONS, options)
  refuseToStart(io, place.root)
  const end = await startWorker(io, { where, place, options }, (event) => {
    const stamped = { at: io.now().toISOString(), ...event }
    if (json) context.printRaw(`${printableJson(JSON.stringify(stamped))}\n`)
    else context.print(workerBlocks(stamped))
  })
  if (!json) context.print([line(`The worker has ended: ${end.reason}.`)])
  return end.kind === 'interrupted' ? 130 : 0
}

/** The lines of a worker for an event; without details, which the run shows. */
function workerBlocks(event: RunEvent): readonly Block[] {
  switch (event.type) {
    case 'worker-joined':
    case 'warning':
    case 'preparing':
      return told(event)
    case 'attempt-started':
    case 'candidate-ready':
    case 'attempt-finished':
      return told(event).map((block) => headed([accent(event.id), '  '], block))
    default:
      return []
  }
}
