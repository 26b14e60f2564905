import { UserError, unreachable } from '../../base/errors.ts'
import type { Emit } from '../../attempt/ports.ts'
import type { RunEvent, RunFinished } from '../../events/event.ts'
import { findTask } from '../../project/find-task.ts'
import { refuseInside } from '../../project/world.ts'
import { openProject, type Project } from '../../project/project.ts'
import { runOptions, type RunWish } from '../../project/run-options.ts'
import { startRun } from '../../project/start-run.ts'
import type { Context } from '../command.ts'
import { showJson, showLines } from '../run/show-run.ts'
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
  const show = context.json ? showJson(context) : await showLines(context, { verbose })
  let code = 0
  const emit: Emit<RunEvent> = (event) => {
    show.event(event)
    if (event.type === 'run-finished') code = exitCode(event)
  }
  try {
    await startRun(context.io, project, {
      wish,
      options,
      questions: show.questions,
      terminal: show.terminal,
      emit,
    })
  } finally {
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
