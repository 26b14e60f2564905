import { once } from 'node:events'
import { UserError } from '../../base/errors.ts'
import { openPlace, type Place } from '../../config/project.ts'
import type { Steering } from '../../screen/full/keys.ts'
import type { Terminal } from '../../screen/full/screen.ts'
import type { Context } from '../command.ts'
import { makeScreen } from '../run/full-screen.ts'
import { showJson, showLines, type Show } from '../run/show-run.ts'
import { RunWatch } from '../run/watch-run.ts'
import { openTerminal } from '../terminal.ts'

/** Shows the current run, or the last one: in the full screen, or as lines without a terminal. */
export async function run(context: Context): Promise<number> {
  const place = await openPlace(context.where)
  const terminal = context.json ? null : openTerminal(context.io)
  return terminal ? watchOn(context, place, terminal) : printRun(context, place)
}

async function watchOn(context: Context, place: Place, terminal: Terminal): Promise<number> {
  const { io, args } = context
  let opened: Awaited<ReturnType<typeof makeScreen>> | null = null
  const watch = new RunWatch(
    io,
    { place, named: args[0] },
    {
      heard(known) {
        for (const event of known) opened?.changed(event)
      },
      changed: () => opened?.screen.changed(),
    },
  )
  // Reads some events before the first frame.
  watch.start()
  opened = await makeScreen(context, place, {
    model: watch.model,
    terminal,
    liveness: () => ({ isAlive: watch.isAlive, isOwn: false }),
    steer: (steering) => steer(context, watch, steering),
    tick: () => watch.tick(),
  })
  const leave = (): void => opened?.screen.close()
  io.signal.addEventListener('abort', leave, { once: true })
  try {
    if (!io.signal.aborted) await opened.screen.show()
  } finally {
    opened.end()
    watch.close()
  }
  return 0
}

/** Sends the request to the run; without a run, a blocked task can still be made TODO again. */
async function steer({ io, where }: Context, watch: RunWatch, steering: Steering): Promise<string> {
  // The first frame does not wait for what it does not need.
  const { tryRun } = await import('./control.ts')
  if (!watch.isAlive && steering.do === 'retry') {
    const { retry } = await import('../../authoring/retry-task.ts')
    const { id } = await retry(io, where, { task: steering.task, answer: null })
    return `${id} is TODO again`
  }
  const reply = await tryRun(io, where, steering)
  return reply?.text ?? 'no run is under way here any more'
}

const POLL_MS = 1000

/** Prints it as lines, or as events, until its end. */
async function printRun(context: Context, place: Place): Promise<number> {
  const { io, args, json } = context
  const show: Show = json ? showJson(context) : await showLines(context)
  const over = new AbortController()
  const end = (): void => {
    if (watch.isOver) over.abort()
  }
  const watch = new RunWatch(
    io,
    { place, named: args[0] },
    {
      heard(known, all) {
        for (const event of json ? all : known) show.event(event)
        end()
      },
      changed: end,
    },
  )
  const polling = setInterval(() => watch.tick(), POLL_MS)
  const ends = AbortSignal.any([io.signal, over.signal])
  try {
    watch.start()
    if (!ends.aborted) await once(ends, 'abort')
  } finally {
    clearInterval(polling)
    watch.close()
    await show.end()
  }
  if (watch.model.isDead) throw new UserError('this run crashed', 'The next ralph run recovers it.', 1)
  return 0
}
