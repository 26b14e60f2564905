import { basename } from 'node:path'
import type { RunEvent } from '../../engine/events/event.ts'
import { LiveListing } from '../../project/live-listing.ts'
import type { Place } from '../../project/project.ts'
import { boardOf, EMPTY_BOARD, type Board, type BoardTask } from '../../screen/full/board.ts'
import type { RunModel } from '../../screen/full/model.ts'
import { Screen, type ScreenPorts } from '../../screen/full/screen.ts'
import type { Terminal } from '../../screen/full/terminal.ts'
import type { Context } from '../command.ts'
import { canvasFor } from '../context.ts'

/** What differs between a run in this process and a watched one. */
export type ScreenOf = Pick<ScreenPorts, 'liveness' | 'steer' | 'tick'> & {
  readonly place: Place
  readonly model: RunModel
  readonly terminal: Terminal
}

/** A full screen with its tasks, which are read again when their files change. */
export interface OpenedScreen {
  readonly screen: Screen
  readonly tasks: () => readonly BoardTask[]
  /** Reads the tasks again, and shows them. */
  readonly reread: () => void
  readonly close: () => void
}

/** Makes the full screen of a run. */
export async function makeScreen(
  { io, options }: Context,
  { place, model, terminal, ...rest }: ScreenOf,
): Promise<OpenedScreen> {
  const listing = new LiveListing(place, ['title', 'milestone'])
  const { colour, ascii = false } = canvasFor(io.stdout, io.env, options.on('no-color'))
  const at = { io, place, model, colour }
  let board: Board = EMPTY_BOARD
  const read = async (): Promise<void> => {
    board = boardOf(await listing.read(), board.revision + 1)
  }
  await read()
  const screen = new Screen({
    ...rest,
    terminal,
    look: { colour, ascii },
    now: io.now,
    model,
    board: () => board,
    project: basename(place.root),
    material: async (task, tab) => (await taskMaterial()).materialOf(at, task, tab),
    open: async (what, task, lend) => (await taskMaterial()).openOutside(at, { what, task, lend }),
  })
  const reread = oneAtATime(async () => {
    await read()
    screen.changed()
  })
  const forget = listing.watch(reread)
  return {
    screen,
    tasks: () => board.tasks,
    reread,
    close() {
      forget()
      screen.close()
    },
  }
}

/** Loaded later, because the first frame does not need it. */
const taskMaterial = (): Promise<typeof import('./task-material.ts')> => import('./task-material.ts')

/** Repeats the work if it is requested while it runs. Errors are ignored: the tasks stay as they were. */
function oneAtATime(work: () => Promise<void>): () => void {
  let state: 'idle' | 'busy' | 'again' = 'idle'
  const go = (): void => {
    if (state !== 'idle') {
      state = 'again'
      return
    }
    state = 'busy'
    void settle()
  }
  const settle = async (): Promise<void> => {
    try {
      await work()
    } catch {
      // See the comment above.
    }
    const isWanted = state === 'again'
    state = 'idle'
    if (isWanted) go()
  }
  return go
}

/** Whether the event means that a task file has changed. */
export function changesFiles({ type }: RunEvent): boolean {
  return (
    type === 'task-completed' || type === 'task-blocked' || type === 'answered' || type === 'run-finished'
  )
}
