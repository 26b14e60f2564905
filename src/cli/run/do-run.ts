import { relative } from 'node:path'
import { UserError, unreachable } from '../../base/errors.ts'
import type { Emit, RunOptions } from '../../engine/ports.ts'
import type { RunEvent, RunFinished } from '../../engine/events/event.ts'
import { findTask } from '../../config/find-task.ts'
import { refuseToStart } from '../../base/world.ts'
import { openProject, type Project } from '../../config/project.ts'
import { overridden } from '../options/option.ts'
import { RUN_OPTIONS } from '../options/run-options.ts'
import { runOptions, type RunRequest } from '../setup/run-options.ts'
import { readFromBranch } from '../setup/read-from-branch.ts'
import { startRun } from '../setup/start-run.ts'
import { Control } from '../../engine/control.ts'
import { runFolder } from '../../engine/folder.ts'
import { journalPath } from '../../engine/journal.ts'
import type { PersonTerminal } from '../../process/terminal.ts'
import type { Terminal } from '../../screen/full/state.ts'
import type { ContextOf } from '../commands.ts'
import { openTerminal } from '../terminal.ts'
import { RunKeys, type KeyDesk } from './keys.ts'
import { openPersonTerminal } from './person-terminal.ts'
import { showJson, type LineShow } from './show-run.ts'
import { stageOf, type Stage } from './stage.ts'
import { runRequest } from './request.ts'

type Context = ContextOf<'run'>

/** Does the next task, the named task, or one after the other; shows it in these lines, or as JSON if there are none. */
export async function doRun(context: Context, lines: LineShow | null): Promise<number> {
  const isTui = context.options.tui
  const own = await openProject(context.where)
  const request = requestOf(context, own)
  const terminal = lines?.isLive ? openTerminal(context.io) : null
  if (isTui && !terminal) throw noFullScreen()
  if (context.options.dryRun) {
    const { dryRun } = await import('./dry-run.ts')
    return dryRun(context, overridden(own, RUN_OPTIONS, request), request)
  }
  refuseToStart(context.io, own.root)
  const read = await readFromBranch(context.io, context.where, own, { request, ask: lines?.ask ?? null })
  const project = overridden(read.project, RUN_OPTIONS, request)
  const options = runOptions(request, project, canAsk(context))
  const control = new Control()
  let stage: Stage | null = null
  const lent = lines && personTerminal(context, lines, terminal)
  const shown =
    lines &&
    withKeys(lines, context, {
      project,
      control,
      options,
      full: terminal && (() => stage?.open()),
      canTakeOver: lent !== null,
    })
  stage = shown && terminal && stageOf(context, shown, { project, control, terminal })
  const show = stage ?? shown ?? showJson(context)
  if (isTui) stage?.open()
  let code = 0
  const emit: Emit<RunEvent> = (event) => {
    if (event.type === 'run-started')
      context.io.runLog.path = relative(context.io.cwd, journalPath(runFolder(project.root).logs, event.run))
    show.event(event)
    if (event.type === 'run-finished') code = exitCode(event)
  }
  try {
    const { ask, warn } = show
    const { warnings } = read
    const run = { request, options, ask, terminal: lent, emit, control, warn, warnings }
    await startRun(context.io, project, run)
  } finally {
    await show.end()
  }
  return code
}

function noFullScreen(): UserError {
  return new UserError(
    '--tui needs a terminal that it has to itself, and nothing else to print',
    'Leave it out here: ralph watch shows the run in another terminal.',
  )
}

/**
 * The terminal in which a person can drive an agent; null if nobody is at a terminal. Lines and full screen are
 * hidden meanwhile.
 */
function personTerminal(
  { io }: Context,
  { reporter }: LineShow,
  terminal: Terminal | null,
): PersonTerminal | null {
  return openPersonTerminal(io, () => {
    const release = reporter.hold()
    let back = (): void => undefined
    void terminal?.lend(() => new Promise<void>((resolve) => (back = resolve)))
    return () => {
      back()
      release()
    }
  })
}

/** What keys use of a run. */
interface Keyed extends Pick<KeyDesk, 'control' | 'full' | 'canTakeOver'> {
  readonly project: Project
  readonly options: RunOptions
}

/** Adds keys to lines in a terminal; the durations of earlier tasks are looked up after the first lines are drawn. */
function withKeys(
  show: LineShow,
  { io }: Context,
  { project, control, options, full, canTakeOver }: Keyed,
): LineShow {
  if (!show.isLive) return show
  const { reporter, canvas } = show
  const keyboard = io.keyboard()
  const run = (): string | null => reporter.status?.run ?? null
  let keys: RunKeys | null = null
  const begin = async (): Promise<void> => {
    const { taskDurations } = await import('./pace.ts')
    const most = options.loop ? (options.maxTasks ?? Infinity) : 1
    reporter.pace({ durations: await taskDurations(io, project), most })
  }
  return {
    ...show,
    event(event) {
      show.event(event)
      keys?.event(event)
      if (event.type !== 'run-started') return
      const open: KeyDesk['open'] = async (what, id, lend) => {
        const { openOutside } = await import('./task-material.ts')
        const place = { io, place: project, run, colour: canvas().colour }
        return openOutside(place, what, { id, file: '', lend })
      }
      const { push: pushes } = options
      if (keyboard)
        keys = new RunKeys({
          keyboard,
          reporter,
          control,
          open,
          pushes,
          full,
          canTakeOver,
          leaving: leaving(io.env),
        })
      void begin()
    },
    async end() {
      await keys?.end()
      await show.end()
    },
  }
}

/** How to leave the run: it ends with its terminal, so only a terminal that is kept for later can be left. */
function leaving({ TMUX, STY }: Context['io']['env']): string {
  if (TMUX) return 'to leave it running, detach from tmux'
  if (STY) return 'to leave it running, detach from screen'
  return 'it needs this terminal: to leave a run going, start it in tmux or screen'
}

function requestOf(context: Context, { tasks }: Project): RunRequest {
  const { args, options } = context
  const [named] = args
  const task = named === undefined ? null : findTask(tasks, named).id
  if (task !== null && options.loop) {
    throw new UserError('--loop cannot be used with a task id', 'Leave one of them out.')
  }
  return runRequest(options, { task, canAsk: canAsk(context) })
}

function canAsk({ json, io }: Context): boolean {
  return !json && io.dialogue() !== null
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
