import { UserError, unreachable } from '../../base/errors.ts'
import type { Emit } from '../../attempt/ports.ts'
import type { RunEvent, RunFinished } from '../../events/event.ts'
import { Agents } from '../../project/agents.ts'
import { findTask } from '../../project/find-task.ts'
import { refuseInside } from '../../project/world.ts'
import { openProject, type Project } from '../../project/project.ts'
import { runOptions, type RunWish } from '../../project/run-options.ts'
import { runPorts, type Questions } from '../../project/run-ports.ts'
import type { RunOptions } from '../../run/ports.ts'
import { runTasks } from '../../run/run.ts'
import type { Task } from '../../task/model.ts'
import { printableJson } from '../../ui/printable.ts'
import { RunReporter } from '../../ui/run-reporter.ts'
import { measureForAny } from '../../ui/width.ts'
import type { Context } from '../command.ts'
import { canvasFor } from '../context.ts'
import { questionsOf } from '../run/questions.ts'
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
  const show = context.json ? showJson(context) : await showLines(context)
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
  const agents = new Agents(io, wish, project)
  // Beside the rest, for an agent may take a second to print its version.
  const checked = agents.check(tasksOf(project, options)).then(
    (warnings) => ({ warnings }),
    (error: unknown) => ({ error }),
  )
  const ports = await runPorts(io, project, { agents, questions })
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

/** What shows a run, and asks for it. */
interface Show {
  readonly event: Emit<RunEvent>
  readonly questions: Questions
  readonly end: () => void
}

function showJson(context: Context): Show {
  return {
    event: (event) => context.printRaw(`${printableJson(JSON.stringify(event))}\n`),
    questions: { ask: null, askToCommit: null },
    end: () => undefined,
  }
}

const TICK_MS = 500

async function showLines({ io, options }: Context): Promise<Show> {
  const reporter = new RunReporter({
    write: io.stdout.write,
    canvas: () => canvasFor(io.stdout, io.env, options.on('no-color')),
    measure: await measureForAny(),
    now: io.now,
    verbose: options.on('verbose'),
  })
  const ticking = setInterval(() => reporter.tick(), TICK_MS)
  const dialogue = io.dialogue()
  return {
    event: (event) => reporter.event(event),
    questions: dialogue
      ? questionsOf({ ...dialogue, signal: io.signal }, () => reporter.pause())
      : { ask: null, askToCommit: null },
    end() {
      clearInterval(ticking)
      reporter.pause()
    },
  }
}

function exitCode(finished: RunFinished): number {
  if (finished.blocked.length + finished.failed.length > 0) return finished.end === 'interrupted' ? 130 : 1
  switch (finished.end) {
    case 'done':
      return 0
    case 'nothing-eligible':
      return finished.completed.length > 0 ? 0 : 1
    case 'interrupted':
      return 130
    case 'budget':
    case 'failed':
    case 'stopped':
    case 'not-pushed':
      return 1
    default:
      return unreachable(finished.end)
  }
}
