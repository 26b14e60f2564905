import { once } from 'node:events'
import { UserError } from '../../base/errors.ts'
import type { Place } from '../../config/project.ts'
import type { Steering } from '../../screen/full/keys.ts'
import type { Terminal } from '../../screen/full/screen.ts'
import type { Context } from '../command.ts'
import { makeScreen } from '../run/full-screen.ts'
import { showJson, showLines } from '../run/show-run.ts'
import { openTerminal } from '../terminal.ts'
import { watch, type FSWatcher } from 'node:fs'
import type { RunEvent } from '../../engine/events/event.ts'
import { runFolder } from '../../engine/folder.ts'
import { journalPath } from '../../engine/journal.ts'
import { openRepository } from '../../git/open-repository.ts'
import { RunModel } from '../../screen/full/model.ts'
import { JournalReader, runsIn } from '../../screen/read-journal.ts'
import type { Io } from '../io.ts'

/** Shows the current run, or the last one: in the full screen, or as lines without a terminal. */
export async function run(context: Context): Promise<number> {
  const place = await context.place()
  const terminal = context.json ? null : openTerminal(context.io)
  return terminal ? watchOn(context, place, terminal) : printRun(context, place)
}

async function watchOn(context: Context, place: Place, terminal: Terminal): Promise<number> {
  const { io, args } = context
  let opened: Awaited<ReturnType<typeof makeScreen>> | null = null
  const { model, isAlive, start, tick, close } = watchRun(
    io,
    { place, named: args[0] },
    {
      heard: (known) => known.forEach((event) => opened?.changed(event)),
      changed: () => opened?.screen.changed(),
    },
  )
  // Reads some events before the first frame.
  start()
  opened = await makeScreen(context, place, {
    model,
    terminal,
    liveness: () => ({ isAlive: isAlive(), isOwn: false }),
    steer: (steering) => steer(context, isAlive(), steering),
    tick,
  })
  const leave = (): void => opened?.screen.close()
  io.signal.addEventListener('abort', leave, { once: true })
  try {
    if (!io.signal.aborted) await opened.screen.show()
  } finally {
    opened.end()
    close()
  }
  return 0
}

/** Sends the request to the run; without a run, a blocked task can still be made TODO again. */
async function steer({ io, where }: Context, isAlive: boolean, steering: Steering): Promise<string> {
  // The first frame does not wait for what it does not need.
  const { tryRun } = await import('./control.ts')
  if (!isAlive && steering.do === 'retry') {
    const { retry } = await import('../../authoring/commit-task-files.ts')
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
  const show = json ? showJson(context) : await showLines(context)
  const over = new AbortController()
  const endIfOver = (): void => {
    if (isOver()) over.abort()
  }
  const { model, isOver, start, tick, close } = watchRun(
    io,
    { place, named: args[0] },
    {
      heard(known, all) {
        for (const event of json ? all : known) show.event(event)
        endIfOver()
      },
      changed: endIfOver,
    },
  )
  const polling = setInterval(tick, POLL_MS)
  const ends = AbortSignal.any([io.signal, over.signal])
  try {
    start()
    if (!ends.aborted) await once(ends, 'abort')
  } finally {
    clearInterval(polling)
    close()
    await show.end()
  }
  if (model.isDead) throw new UserError('this run crashed', 'The next ralph run recovers it.', 1)
  return 0
}

/** Gets the events of a watched run. */
interface WatchListener {
  /** Called with the events that can be shown; those of a later version are only among `all`. */
  readonly heard: (known: readonly RunEvent[], all: readonly RunEvent[]) => void
  /** Called when it is first known whether the run lives, and on each change. */
  readonly changed: () => void
}

/** How often, in seconds, to check whether the process of a running run still lives. */
const LOOK_SECONDS = 2

/**
 * A run as its journal describes it, and whether it lives. The journal is followed while it is written; then the next run
 * that begins here, unless one was named.
 */
function watchRun(
  io: Io,
  { place, named }: { place: Place; named: string | undefined },
  { heard, changed }: WatchListener,
) {
  const model = new RunModel()
  const { logs } = runFolder(place.root)
  let run = chosen(runsIn(logs), named)
  /** Whether all events of the journal so far were passed on. */
  let isCaughtUp = false
  let isAlive = false
  let isLooking = false
  let seconds = 0
  const hear = (all: readonly RunEvent[]): void => {
    const known = all.filter((event) => isShown(model, event))
    if (model.status?.ended) model.isDead = false
    heard(known, all)
    if (!isAlive && isCaughtUp) void look()
  }
  const look = async (): Promise<void> => {
    const { status } = model
    if (isLooking || !status || status.ended) return
    isLooking = true
    // Without git this is unknown, and not shown.
    const lives = await isLiving(io, place, status.since).catch(() => null)
    isLooking = false
    // The end may have been read meanwhile.
    if (lives === null || model.status?.run !== status.run || model.status.ended) return
    const differs = lives !== isAlive || model.isDead === lives
    isAlive = lives
    model.isDead = !lives
    if (differs) changed()
  }
  const follow = (): ReturnType<typeof followJournal> =>
    followJournal(journalPath(logs, run), hear, () => {
      const wasCaughtUp = isCaughtUp
      isCaughtUp = true
      if (!wasCaughtUp) hear([])
    })
  let journal = follow()
  return {
    model,
    /** Whether it runs, so that it can be controlled. */
    isAlive: () => isAlive && model.status?.ended === null,
    /** Whether no more events will come. */
    isOver: () => isCaughtUp && (model.isDead || (model.status?.ended ?? null) !== null),
    /** Reads the first part at once; the rest follows in steps. */
    start: () => journal.step(),
    /** Reads new events without an event of the file system, and looks whether the run lives; called once a second. */
    tick: (): void => {
      const newest = named === undefined ? runsIn(logs).at(-1) : undefined
      if (newest !== undefined && newest !== run) {
        journal.close()
        run = newest
        isCaughtUp = false
        isAlive = false
        model.clear()
        journal = follow()
        changed()
      } else journal.refresh()
      journal.read()
      if (model.status?.ended === null && ++seconds % LOOK_SECONDS === 0) void look()
    },
    close: () => journal.close(),
  }
}

/** Reads a journal one part at a time, so that keys work while a long one is read, and again when it grows. */
function followJournal(path: string, hear: (events: readonly RunEvent[]) => void, atEnd: () => void) {
  const reader = new JournalReader(path)
  let reading: NodeJS.Immediate | null = null
  const step = (): void => {
    const events = reader.next()
    if (events === null) return atEnd()
    if (events.length > 0) hear(events)
    read()
  }
  const read = (): void => {
    reading ??= setImmediate(() => {
      reading = null
      step()
    })
  }
  let watcher: FSWatcher | null = null
  try {
    watcher = watch(path, read).on('error', () => undefined)
  } catch {
    // File watching may not be available: then polling once a second is enough.
  }
  return {
    step,
    read,
    refresh: () => reader.refresh(),
    close() {
      watcher?.close()
      reader.close()
      if (reading) clearImmediate(reading)
      reading = null
    },
  }
}

function isShown(model: RunModel, event: RunEvent): boolean {
  try {
    model.event(event)
    return true
  } catch {
    // It is from a later version, or somebody has edited the journal.
    return false
  }
}

/** Whether the run that began then still has the lock: a later owner has taken it over from a dead run. */
async function isLiving(io: Io, { root }: Place, since: string): Promise<boolean> {
  const { repository } = await openRepository(io, root)
  const { livingOwner } = await import('./control.ts')
  const owner = await livingOwner(runFolder(root, repository))
  return owner !== null && owner.since <= since
}

/** The run that was named by an unambiguous part of its name; else the last one. */
function chosen(runs: readonly string[], named: string | undefined): string {
  const last = runs.at(-1)
  if (last === undefined) throw new UserError('no runs yet', 'ralph run starts one.', 1)
  if (named === undefined) return last
  const found = runs.filter((run) => run.startsWith(named))
  const one = found.find((run) => run === named) ?? (found.length === 1 ? found[0] : undefined)
  if (one !== undefined) return one
  throw new UserError(
    found.length === 0
      ? `there is no run ${named} here`
      : `${named} is the beginning of ${found.length} runs`,
    'ralph status --all shows them all.',
  )
}
