import { UserError, unreachable } from '../../base/errors.ts'
import type { Emit } from '../../attempt/ports.ts'
import type { RunEvent, RunFinished } from '../../events/event.ts'
import { statusAfter, type RunStatus } from '../../events/status.ts'
import { findTask } from '../../project/find-task.ts'
import { refuseInside } from '../../project/world.ts'
import { openProject, type Project } from '../../project/project.ts'
import { runOptions, type RunWish } from '../../project/run-options.ts'
import { startRun } from '../../project/start-run.ts'
import { Control } from '../../run/control.ts'
import type { Context } from '../command.ts'
import { showJson, showLines } from '../run/show-run.ts'
import { askedAlone, takeOverKey } from '../run/take-over-key.ts'
import { runWish } from '../run/wish.ts'

/** Does the next task, or the one named, or one after the other. */
export async function run(context: Context): Promise<number> {
  const project = await openProject(context.where)
  const wish = wishOf(context, project)
  const options = runOptions(wish, project)
  if (context.options.on('dry-run')) {
    const { dryRun } = await import('../run/dry-run.ts')
    return dryRun(context, project, { wish, options })
  }
  refuseInside(context.io, project.root)
  const verbose = context.options.on('verbose')
  const show = context.json
    ? showJson(context)
    : await showLines(context, { verbose, detachKey: project.config.detachKey })
  const control = new Control()
  let code = 0
  let status: RunStatus | null = null
  const emit: Emit<RunEvent> = (event) => {
    status = statusAfter(status, event)
    show.event(event)
    if (event.type === 'run-finished') code = exitCode(event)
  }
  const { terminal } = show
  const keyboard = terminal && context.io.keyboard()
  const questions = keyboard ? askedAlone(show.questions, keyboard) : show.questions
  const forget = keyboard && takeOverKey(keyboard, { control, status: () => status, say: show.say })
  try {
    await startRun(context.io, project, { wish, options, questions, terminal, emit, control })
  } finally {
    forget?.()
    show.end()
  }
  return code
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
