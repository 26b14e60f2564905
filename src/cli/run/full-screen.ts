import { basename } from 'node:path'
import { controlAnswers } from '../../engine/control-socket.ts'
import type { Control } from '../../engine/control.ts'
import type { RunEvent } from '../../engine/events/event.ts'
import { LiveListing } from '../../config/listing.ts'
import type { Place, Project } from '../../config/project.ts'
import { boardOf, EMPTY_BOARD, type Board } from '../../screen/full/board.ts'
import { RunModel } from '../../screen/full/model.ts'
import { Screen, type ScreenPorts } from '../../screen/full/screen.ts'
import type { Terminal } from '../../screen/full/state.ts'
import { canvasFor, type Context } from '../command.ts'

/** What differs between a run in this process and a watched one. */
type ScreenOf = Pick<ScreenPorts, 'liveness' | 'steer' | 'tick' | 'model' | 'terminal'> & {
  readonly place: Place
}

/** Makes the full screen of a run, with its tasks, which are read again when their files change. */
export async function makeScreen({ io, options }: Context, { place, ...rest }: ScreenOf) {
  const listing = new LiveListing(place, ['title', 'milestone'])
  const { colour, ascii = false } = canvasFor(io.stdout, io.env, options.noColor)
  const at = { io, place, run: () => rest.model.status?.run ?? null, colour }
  let board: Board = EMPTY_BOARD
  const read = async (): Promise<void> => {
    board = boardOf(await listing.read(), board.revision + 1)
  }
  await read()
  const screen = new Screen({
    ...rest,
    look: { colour, ascii },
    now: io.now,
    board: () => board,
    project: basename(place.root),
    material: async (task, tab) => (await taskMaterial()).materialOf(at, task, tab),
    open: async (what, task, lend) => (await taskMaterial()).openOutside(at, what, { ...task, lend }),
  })
  /** Reads the tasks again, and shows them. */
  const reread = oneAtATime(async () => {
    await read()
    screen.changed()
  })
  const forget = listing.watch(reread)
  return {
    screen,
    taskIds: () => board.tasks.map(({ id }) => id),
    /** Shows an event that the model has. */
    changed: (event: RunEvent): void => {
      if (changesFiles(event)) reread()
      screen.changed()
    },
    end: (): void => {
      forget()
      screen.close()
    },
  }
}

/** Loaded later, because the first frame does not need it. */
const taskMaterial = (): Promise<typeof import('./task-material.ts')> => import('./task-material.ts')

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

/** Whether the event means that a task file has changed. */
function changesFiles({ type }: RunEvent): boolean {
  return (
    type === 'task-completed' || type === 'task-blocked' || type === 'answered' || type === 'run-finished'
  )
}

/** The parts of a run in this process that its full screen uses. */
export interface OwnRun {
  readonly project: Project
  readonly control: Control
  readonly terminal: Terminal
}

/** The full screen of a run in this process. */
export async function ownScreen(context: Context, { project, control, terminal }: OwnRun) {
  const model = new RunModel()
  const { screen, taskIds, changed, end } = await makeScreen(context, {
    place: project,
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
