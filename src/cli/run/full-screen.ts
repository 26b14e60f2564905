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
import type { LineShow } from './show-run.ts'

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

/** Shows the full screen in place of the lines, which keep what they have to write; resolves when somebody goes back to them. */
export async function openFullScreen(full: FullScreen, lines: Pick<LineShow, 'reporter'>): Promise<void> {
  const release = lines.reporter.hold()
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

/** The two ways to show a run, of which one is seen at a time, and its questions, which are asked there. */
export interface Stage {
  readonly questions: Questions
  /** Shows the full screen, unless it is shown. */
  readonly open: () => void
  /** Goes back to the lines, for good. */
  readonly end: () => Promise<void>
}

/** What is asked is answered on the full screen by the control, and in the lines once it is left. */
export function stageOf(
  full: FullScreen,
  { lines, control }: { readonly lines: LineShow; readonly control: Control },
): Stage {
  const { ask, reply, askToCommit } = lines.questions
  let shown = Promise.resolve()
  const open = (): void => {
    if (!full.isOpen) shown = openFullScreen(full, lines)
  }
  const isLeft = async (over: AbortSignal): Promise<boolean> => {
    await full.closed(AbortSignal.any([over, control.signal]))
    return !over.aborted && !control.signal.aborted
  }
  return {
    open,
    async end() {
      full.end()
      await shown
    },
    questions: {
      ask: ask && (async (question, over) => ((await isLeft(over)) ? ask(question, over) : 'abort')),
      reply: reply && (async (question, over) => ((await isLeft(over)) ? reply(question, over) : null)),
      // It is asked before the run begins, of which there is nothing to be seen yet.
      askToCommit:
        askToCommit &&
        (async (paths, over) => {
          if (!full.isOpen) return askToCommit(paths, over)
          full.close()
          await shown
          try {
            return await askToCommit(paths, over)
          } finally {
            open()
          }
        }),
    },
  }
}
