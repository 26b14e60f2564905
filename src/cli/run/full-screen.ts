import { basename } from 'node:path'
import { controlAnswers } from '../../engine/control-socket.ts'
import type { Control } from '../../engine/control.ts'
import type { RunEvent } from '../../engine/events/event.ts'
import { liveListing } from '../../config/listing.ts'
import type { Place } from '../../config/project.ts'
import { boardOf } from '../../screen/full/board.ts'
import { RunModel } from '../../screen/full/model.ts'
import { Screen, type ScreenPorts, type Terminal } from '../../screen/full/screen.ts'
import { canvasFor, type Context } from '../command.ts'

/** What differs between a run in this process and a watched one. */
type ScreenOf = Pick<ScreenPorts, 'liveness' | 'steer' | 'tick' | 'model' | 'terminal'>

/** Makes the full screen of a run, with its tasks, which are read again when their files change. */
export async function makeScreen({ io, options }: Context, place: Place, own: ScreenOf) {
  const listing = liveListing(place, ['title', 'milestone'])
  const { colour, ascii = false } = canvasFor(io.stdout, io.env, options.noColor)
  const at = { io, place, run: () => own.model.status?.run ?? null, colour }
  // Loaded later, because the first frame does not need it.
  const material = () => import('./task-material.ts')
  let board = boardOf(await listing.read())
  const screen = new Screen({
    ...own,
    look: { colour, ascii },
    now: io.now,
    board: () => board,
    project: basename(place.root),
    material: async (task, tab) => (await material()).materialOf(at, task, tab),
    open: async (what, task, lend) => (await material()).openOutside(at, what, { ...task, lend }),
  })
  /** Reads the tasks again, and shows them. */
  const reread = oneAtATime(async () => {
    board = boardOf(await listing.read())
    screen.changed()
  })
  const forget = listing.watch(reread)
  return {
    screen,
    taskIds: () => board.map(({ id }) => id),
    /** Shows an event that the model has. */
    changed: ({ type }: RunEvent): void => {
      if (CHANGES_FILES.has(type)) reread()
      screen.changed()
    },
    end: (): void => {
      forget()
      screen.close()
    },
  }
}

/** The events after which task files are not as they were. */
const CHANGES_FILES: ReadonlySet<RunEvent['type']> = new Set([
  'task-completed',
  'task-blocked',
  'answered',
  'run-finished',
])

/** Repeats the work if it is requested while it runs. Errors are ignored: the tasks stay as they were. */
function oneAtATime(work: () => Promise<void>): () => void {
  let [isWanted, isBusy] = [false, false]
  const go = async (): Promise<void> => {
    isBusy = true
    while (isWanted) {
      isWanted = false
      await work().catch(() => undefined)
    }
    isBusy = false
  }
  return () => {
    isWanted = true
    if (!isBusy) void go()
  }
}

/** The full screen of a run in this process. */
export async function ownScreen(
  context: Context,
  { project, control, terminal }: { project: Place; control: Control; terminal: Terminal },
) {
  const model = new RunModel()
  const { screen, taskIds, changed, end } = await makeScreen(context, project, {
    model,
    terminal,
    liveness: () => ({ isAlive: !model.status?.ended, isOwn: true }),
    steer: async (steering) =>
      steering.do === 'take-over' ? (control.takeOver(steering.task) ?? '') : answer(steering).text,
    tick: () => undefined,
  })
  const answer = controlAnswers(control, taskIds)
  /** The task that git is committing: git may ask for a password, so nothing is painted meanwhile. */
  let committing: string | null = null
  return {
    /** Takes the earlier events; each later one must be passed on. */
    begin(past: Iterable<RunEvent>) {
      for (const event of past) model.event(event)
    },
    event(event: RunEvent) {
      model.event(event)
      if (event.type === 'committing') {
        committing = event.id
        screen.pause()
      } else if (committing !== null && 'id' in event && event.id === committing) {
        committing = null
        screen.resume()
      }
      changed(event)
    },
    /** Shows the screen until a person leaves it, or it is closed. */
    show: () => screen.show(),
    end,
  }
}
