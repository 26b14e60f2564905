import { basename } from 'node:path'
import type { RunEvent } from '../../events/event.ts'
import { LiveListing } from '../../project/live-listing.ts'
import type { Place } from '../../project/project.ts'
import { boardOf, EMPTY_BOARD, type Board, type BoardTask } from '../../tui/board.ts'
import type { RunModel } from '../../tui/model.ts'
import { Screen, type ScreenPorts } from '../../tui/screen.ts'
import type { Terminal } from '../../tui/terminal.ts'
import { measureForAny } from '../../ui/width.ts'
import type { Context } from '../command.ts'
import { canvasFor } from '../context.ts'

/** What differs between a run in this process and one that is watched. */
export type ScreenOf = Pick<ScreenPorts, 'liveness' | 'steer' | 'tick'> & {
  readonly place: Place
  readonly model: RunModel
  readonly terminal: Terminal
}

/** A full screen with the tasks that it shows, which are read again when their files change. */
export interface OpenedScreen {
  readonly screen: Screen
  readonly tasks: () => readonly BoardTask[]
  /** Reads the tasks anew, and shows them. */
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
    measure: await measureForAny(),
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

/** What the first frame does not need it does not wait for. */
const taskMaterial = (): Promise<typeof import('./task-material.ts')> => import('./task-material.ts')

/** Does it again where it was asked for meanwhile. What is wrong with a folder is shown by the tasks that stay as they were. */
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
      // As the comment above says.
    }
    const isWanted = state === 'again'
    state = 'idle'
    if (isWanted) go()
  }
  return go
}

/** Whether a task file says something else afterwards. */
export function changesFiles({ type }: RunEvent): boolean {
  return (
    type === 'task-completed' || type === 'task-blocked' || type === 'answered' || type === 'run-finished'
  )
}
