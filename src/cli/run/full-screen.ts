import type { Emit } from '../../attempt/ports.ts'
import type { RunEvent } from '../../events/event.ts'
import type { Project } from '../../project/project.ts'
import type { Questions } from '../../project/run-ports.ts'
import { controlAnswers } from '../../run/control-socket.ts'
import type { Control } from '../../run/control.ts'
import { RunModel } from '../../tui/model.ts'
import type { Terminal } from '../../tui/terminal.ts'
import type { Context } from '../command.ts'
import { makeScreen } from './screen-ports.ts'

/** The full screen of a run in this process. It hears of the run from its beginning on, and can be opened at any time. */
export interface FullScreen {
  readonly event: Emit<RunEvent>
  /** Shows it until somebody leaves it, or until it is closed. */
  readonly open: () => Promise<void>
  readonly close: () => void
  readonly isOpen: boolean
  /** Resolves when it is not open, or the signal aborts. */
  readonly closed: (signal: AbortSignal) => Promise<void>
  /** Closes it for good. */
  readonly end: () => void
}

/** What the lines of a run do while the full screen is shown: they write nothing, and what they had to write afterwards. */
export interface Lines {
  readonly hold: () => () => void
}

/** Shows the full screen in place of the lines; resolves when the person goes back to them. */
export async function openFullScreen(full: FullScreen, lines: Lines): Promise<void> {
  const release = lines.hold()
  try {
    await full.open()
  } finally {
    release()
  }
}

/** Makes the full screen of the run that this control is of. */
export async function ownScreen(
  context: Context,
  {
    project,
    control,
    terminal,
  }: { readonly project: Project; readonly control: Control; readonly terminal: Terminal },
): Promise<FullScreen> {
  const model = new RunModel()
  const { screen, tasks, reread, close } = await makeScreen(context, {
    place: project,
    model,
    terminal,
    liveness: () => ({ isAlive: !model.status?.ended, isOwn: true }),
    steer: async (steering) => answer(steering).text,
    tick: () => undefined,
  })
  const answer = controlAnswers(control, () => tasks().map(({ id }) => id))
  const leaving = new Set<() => void>()
  return {
    event(event) {
      model.event(event)
      if (event.type === 'task-completed' || event.type === 'task-blocked' || event.type === 'answered')
        reread()
      screen.changed()
    },
    async open() {
      try {
        await screen.show()
      } finally {
        for (const left of leaving) left()
        leaving.clear()
      }
    },
    close: () => screen.close(),
    get isOpen() {
      return screen.isOpen
    },
    closed(signal) {
      if (!screen.isOpen || signal.aborted) return Promise.resolve()
      return new Promise((resolve) => {
        leaving.add(resolve)
        signal.addEventListener('abort', () => resolve(), { once: true })
      })
    },
    end: close,
  }
}

/**
 * Asks where somebody looks: on the full screen, whose answers come by the control, and in the lines once it is left. A
 * question before the run begins is asked in the lines.
 */
export function questionsOn(
  full: FullScreen,
  lines: Questions,
  { control, reopen }: { readonly control: Control; readonly reopen: () => void },
): Questions {
  const { ask, reply, askToCommit } = lines
  const left = async (answered: AbortSignal): Promise<boolean> => {
    await full.closed(AbortSignal.any([answered, control.signal]))
    return !answered.aborted && !control.signal.aborted
  }
  return {
    ask: ask && (async (question, answered) => ((await left(answered)) ? ask(question, answered) : 'abort')),
    reply:
      reply && (async (question, answered) => ((await left(answered)) ? reply(question, answered) : null)),
    askToCommit:
      askToCommit &&
      (async (paths) => {
        if (!full.isOpen) return askToCommit(paths)
        full.close()
        try {
          return await askToCommit(paths)
        } finally {
          reopen()
        }
      }),
  }
}
