import { UserError } from '../../base/errors.ts'
import { openPlace } from '../../project/project.ts'
import { startWorker, type WorkerWish } from '../../project/start-worker.ts'
import { refuseToStart } from '../../project/world.ts'
import { line } from '../../screen/block.ts'
import { layOutNow } from '../../screen/layout.ts'
import { printableJson } from '../../screen/printable.ts'
import { measureForAny } from '../../screen/width.ts'
import { workerBlocks } from '../../screen/worker-view.ts'
import type { Context } from '../command.ts'
import { canvasFor } from '../context.ts'

/** Does jobs of a run on another machine, until the run ends. */
export async function run(context: Context): Promise<number> {
  const { io, options, where, json } = context
  const place = await openPlace(where)
  refuseToStart(io, place.root)
  const measure = await measureForAny()
  const end = await startWorker(io, { where, place, wish: workerWish(context) }, (event) => {
    if (json) {
      const stamped = { at: io.now().toISOString(), ...event }
      context.printRaw(`${printableJson(JSON.stringify(stamped))}\n`)
      return
    }
    const blocks = workerBlocks(event)
    if (blocks.length > 0)
      io.stdout.write(layOutNow(blocks, canvasFor(io.stdout, io.env, options.on('no-color')), measure))
  })
  if (!json) await context.print([line(`The worker has ended: ${end.reason}.`)])
  return end.kind === 'interrupted' ? 130 : 0
}

function workerWish({ options }: Context): WorkerWish {
  const jobs = options.number('jobs') ?? null
  if (jobs !== null && options.on('once'))
    throw new UserError('--once does one task, and --jobs several at once', 'Leave one of them out.')
  return {
    queue: options.text('queue') ?? null,
    remote: options.text('remote') ?? null,
    jobs,
    once: options.on('once'),
    labels: options.list('label'),
  }
}
