import { UserError, unreachable } from '../../base/errors.ts'
import type { Emit } from '../../attempt/ports.ts'
import type { RunEvent, RunFinished } from '../../events/event.ts'
import { findTask } from '../../project/find-task.ts'
import { refuseInside } from '../../project/world.ts'
import { openProject, type Project } from '../../project/project.ts'
import { runOptions, type RunWish } from '../../project/run-options.ts'
import { startRun } from '../../project/start-run.ts'
import { Control } from '../../run/control.ts'
import type { RunOptions } from '../../run/ports.ts'
import type { Context } from '../command.ts'
import { RunKeys } from '../run/keys.ts'
import { showJson, showLines, type LineShow, type LineWish } from '../run/show-run.ts'
import { runViews } from '../run/views.ts'
import { stageOf, type Stage } from '../run/stage.ts'
import { runWish } from '../run/wish.ts'
import { openTerminal } from '../terminal.ts'
import type { Terminal } from '../../tui/terminal.ts'

/** Does the next task, or the one named, or one after the other. */
export async function run(context: Context): Promise<number> {
  const project = await openProject(context.where)
  const wish = wishOf(context, project)
  const options = runOptions(wish, project)
  const terminal = terminalFor(context)
  if (context.options.on('dry-run')) {
    const { dryRun } = await import('../run/dry-run.ts')
    return dryRun(context, project, { wish, options })
  }
  refuseInside(context.io, project.root)
  const control = new Control()
  let stage: Stage | null = null
  const full = terminal && (() => stage?.open())
  const clear = terminal && (() => cleared(terminal))
  const lines = context.json ? null : await showRun(context, project, { control, options, full, clear })
  stage = lines && terminal && stageOf(context, lines, { project, control, terminal })
  const show = stage ?? lines ?? showJson(context)
  if (context.options.on('tui')) stage?.open()
  let code = 0
  const emit: Emit<RunEvent> = (event) => {
    show.event(event)
    if (event.type === 'run-finished') code = exitCode(event)
  }
  try {
    const { questions, terminal: lent, warn } = show
    await startRun(context.io, project, { wish, options, questions, terminal: lent, emit, control, warn })
  } finally {
    await show.end()
  }
  return code
}

/** The terminal for the full screen; null where there is none. Whoever asks for it where it cannot be hears so. */
function terminalFor({ io, options, json }: Context): Terminal | null {
  const terminal = json || options.on('dry-run') ? null : openTerminal(io)
  if (terminal || !options.on('tui')) return terminal
  throw new UserError(
    '--tui needs a terminal that it has to itself, and nothing else to print',
    'Leave it out here: ralph watch shows the run in another terminal.',
  )
}

/** Takes the full screen off the terminal, where it is shown; what it returns brings it back. */
function cleared(terminal: Terminal): () => void {
  let back = (): void => undefined
  void terminal.lend(() => new Promise<void>((resolve) => (back = resolve)))
  return () => back()
}

/** What the lines of a run need to know of it. */
interface ShowWish extends Required<Pick<LineWish, 'clear'>> {
  readonly control: Control
  readonly options: RunOptions
  /** Shows the full screen; null where there is none. */
  readonly full: (() => void) | null
}

/** In lines, with keys in a terminal; how long tasks take is looked up once the first lines stand. */
async function showRun(
  context: Context,
  project: Project,
  { control, options, full, clear }: ShowWish,
): Promise<LineShow> {
  const { io } = context
  const { detachKey } = project.config
  const show = await showLines(context, { verbose: context.options.on('verbose'), detachKey, clear })
  if (!show.isLive) return show
  const { reporter, canvas } = show
  const keyboard = io.keyboard()
  const run = (): string | null => reporter.status?.run ?? null
  let keys: RunKeys | null = null
  const begin = async (): Promise<void> => {
    const { taskDurations } = await import('../run/pace.ts')
    const most = options.loop ? (options.maxTasks ?? Infinity) : 1
    reporter.pace({ durations: await taskDurations(io, project), most })
  }
  return {
    ...show,
    event(event) {
      show.event(event)
      keys?.event(event)
      if (event.type !== 'run-started') return
      const views = runViews(io, project, { run, canvas })
      const { push: pushes } = options
      if (keyboard)
        keys = new RunKeys({
          keyboard,
          reporter,
          control,
          views,
          pushes,
          full,
          leaving: leaving(io.env),
          canTakeOver: show.terminal !== null,
        })
      void begin()
    },
    async end() {
      await keys?.end()
      await show.end()
    },
  }
}

/** A run is a program of its terminal; only one that keeps it for later can be left. */
function leaving({ TMUX, STY }: Context['io']['env']): string {
  if (TMUX) return 'to leave it running, detach from tmux'
  if (STY) return 'to leave it running, detach from screen'
  return 'it needs this terminal: to leave a run going, start it in tmux or screen'
}

function wishOf({ args, options, io, json }: Context, { tasks }: Project): RunWish {
  const [named] = args
  const task = named === undefined ? null : findTask(tasks, named).id
  if (task !== null && options.on('loop')) {
    throw new UserError('--loop takes one task after the other, not the one named', 'Leave one of them out.')
  }
  return runWish(options, { task, isInteractive: !json && io.dialogue() !== null })
}

function exitCode(finished: RunFinished): number {
  if (finished.blocked.length + finished.failed.length + finished.held.length > 0)
    return finished.end === 'interrupted' ? 130 : 1
  switch (finished.end) {
    case 'done':
      return 0
    case 'interrupted':
      return 130
    case 'nothing-eligible':
    case 'budget':
    case 'failed':
    case 'stopped':
    case 'held':
    case 'not-pushed':
      return 1
    default:
      return unreachable(finished.end)
  }
}
