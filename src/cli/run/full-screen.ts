import type { RunEvent } from '../../engine/events/event.ts'
import type { Project } from '../../project/project.ts'
import { controlAnswers } from '../../engine/control-socket.ts'
import type { Control } from '../../engine/control.ts'
import { RunModel } from '../../screen/full/model.ts'
import type { Terminal } from '../../screen/full/terminal.ts'
import type { Context } from '../command.ts'
import { changesFiles, makeScreen } from './screen-ports.ts'

/** The parts of a run in this process that its full screen uses. */
export interface OwnRun {
  readonly project: Project
  readonly control: Control
  readonly terminal: Terminal
}

/** The full screen of a run in this process. */
export interface OwnScreen {
  /** Shows the earlier events; each later event must be passed on. */
  readonly begin: (past: Iterable<RunEvent>) => void
  readonly event: (event: RunEvent) => void
  /** Shows the screen until a person leaves it, or it is closed. */
  readonly show: () => Promise<void>
  readonly close: () => void
  /** Closes the screen for good. */
  readonly end: () => void
}

/** Makes the full screen of the run with this control. */
export async function ownScreen(
  context: Context,
  { project, control, terminal }: OwnRun,
): Promise<OwnScreen> {
  const model = new RunModel()
  const { screen, tasks, reread, close } = await makeScreen(context, {
    place: project,
    model,
    terminal,
    liveness: () => ({ isAlive: !model.status?.ended, isOwn: true }),
    steer: async (steering) =>
      steering.do === 'take-over' ? (control.takeOver(steering.task) ?? '') : answer(steering).text,
    tick: () => undefined,
  })
  const answer = controlAnswers(control, () => tasks().map(({ id }) => id))
  /** The task that git is committing: git may ask for a password, so nothing is painted meanwhile. */
  let committing: string | null = null
  return {
    begin(past) {
      for (const event of past) model.event(event)
    },
    event(event) {
      model.event(event)
      if (changesFiles(event)) reread()
      if (event.type === 'committing') {
        committing = event.id
        screen.pause()
      } else if (committing !== null && 'id' in event && event.id === committing) {
        committing = null
        screen.resume()
      }
      screen.changed()
    },
    show: () => screen.show(),
    close: () => screen.close(),
    end: close,
  }
}
