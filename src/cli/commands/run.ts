import { UserError, unreachable } from '../../base/errors.ts'
import type { Emit } from '../../attempt/ports.ts'
import type { RunEvent, RunFinished } from '../../events/event.ts'
import { findTask } from '../../project/find-task.ts'
import { refuseInside } from '../../project/world.ts'
import { openProject, type Project } from '../../project/project.ts'
import { runOptions, type RunWish } from '../../project/run-options.ts'
import { startRun } from '../../project/start-run.ts'
import type { RunOptions } from '../../run/ports.ts'
import { Control } from '../../run/control.ts'
import type { Terminal } from '../../tui/terminal.ts'
import type { Context } from '../command.ts'
import { ownScreen, stageOf } from '../run/full-screen.ts'
import { showJson, showLines, type LineShow } from '../run/show-run.ts'
import { runWish } from '../run/wish.ts'
import { openTerminal } from '../terminal.ts'

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
  const lines = context.json ? null : await showRun(context, project, options)
  const show = lines ?? showJson(context)
  const full = lines && terminal ? await ownScreen(context, { project, control, terminal }) : null
  const stage = full && lines ? stageOf(full, { lines, control }) : null
  let code = 0
  const emit: Emit<RunEvent> = (event) => {
    full?.event(event)
    show.event(event)
    if (event.type === 'run-finished') code = exitCode(event)
  }
  stage?.open()
  try {
    const questions = stage?.questions ?? show.questions
    await startRun(context.io, project, { wish, options, questions, emit, control })
  } finally {
    await stage?.end()
    show.end()
  }
  return code
}

/** The terminal for the full screen, where that is asked for. */
function terminalFor({ io, options, json }: Context): Terminal | null {
  if (!options.on('tui')) return null
  const terminal = json || options.on('dry-run') ? null : openTerminal(io)
  if (terminal) return terminal
  throw new UserError(
    '--tui needs a terminal that it has to itself, and nothing else to print',
    'Leave it out here: ralph watch shows the run in another terminal.',
  )
}

/** In lines; how long tasks take is looked up once the first of them stand. */
async function showRun(
  context: Context,
  project: Project,
  { loop, maxTasks }: Pick<RunOptions, 'loop' | 'maxTasks'>,
): Promise<LineShow> {
  const show = await showLines(context, { verbose: context.options.on('verbose') })
  const most = loop ? (maxTasks ?? Infinity) : 1
  const findPace = async (): Promise<void> => {
    const { taskDurations } = await import('../run/pace.ts')
    show.reporter.pace({ durations: await taskDurations(context.io, project), most })
  }
  const event: Emit<RunEvent> = (happened) => {
    show.event(happened)
    if (happened.type === 'run-started' && show.isLive) void findPace()
  }
  return { ...show, event }
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
