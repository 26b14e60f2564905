import { UserError, unreachable } from '../../base/errors.ts'
import type { Emit } from '../../attempt/ports.ts'
import type { RunEvent, RunFinished } from '../../events/event.ts'
import { Agents } from '../../project/agents.ts'
import { findTask } from '../../project/find-task.ts'
import { refuseInside } from '../../project/world.ts'
import { openProject, type Project } from '../../project/project.ts'
import { runOptions, type RunWish } from '../../project/run-options.ts'
import { openSandbox, sandboxMode } from '../../project/sandbox.ts'
import { runPorts, type Questions } from '../../project/run-ports.ts'
import type { RunOptions } from '../../run/ports.ts'
import { runTasks } from '../../run/run.ts'
import type { Task } from '../../task/model.ts'
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
    await start(context, project, { wish, options, questions: show.questions, emit })
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

async function start(
  { io }: Context,
  project: Project,
  {
    wish,
    options,
    questions,
    emit,
  }: {
    readonly wish: RunWish
    readonly options: RunOptions
    readonly questions: Questions
    readonly emit: Emit<RunEvent>
  },
): Promise<void> {
  const mode = sandboxMode(wish.sandbox, { env: io.env, config: project.config })
  const sandbox = await openSandbox(mode, { env: io.env, ...project })
  const agents = new Agents(io, wish, { ...project, isCaged: sandbox.state.on })
  // Beside the rest, for an agent may take a second to print its version.
  const checked = agents.check(tasksOf(project, options)).then(
    (warnings) => ({ warnings }),
    (error: unknown) => ({ error }),
  )
  const ports = await runPorts(io, project, { agents, questions, sandbox })
  const known = await checked
  if ('error' in known) throw known.error
  await runTasks(options, { ...ports, ...known }, emit)
}

/** The tasks that the run may come to. */
function tasksOf({ selection, tasks }: Project, { task, loop }: RunOptions): readonly Task[] {
  if (task !== null) return tasks.filter(({ id }) => id === task)
  if (!loop) return selection.next ? [selection.next] : []
  const states = selection.states.filter(({ waiting }) => waiting.every(({ kind }) => kind === 'dependency'))
  return states.flatMap(({ task: one }) => (one.status === 'TODO' ? [one] : []))
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
