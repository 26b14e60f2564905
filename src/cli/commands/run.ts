import { UserError, unreachable } from '../../base/errors.ts'
import type { RunEnd } from '../../events/event.ts'
import { runLoop } from '../../run/loop.ts'
import type { RunOptions, RunPorts } from '../../run/ports.ts'
import type { Task } from '../../task/model.ts'
import { RunReporter } from '../../ui/run-reporter.ts'
import { measureForAny } from '../../ui/width.ts'
import { printableJson } from '../../ui/printable.ts'
import type { Context } from '../command.ts'
import { canvasFor } from '../context.ts'
import { findTask } from '../../project/find-task.ts'
import { openProject, type Project } from '../../project/project.ts'
import { agentWishes, checkAgents } from '../../project/agents.ts'
import { runEventJson } from '../run/run-json.ts'
import { runOptions } from '../../project/run-options.ts'
import { runPorts } from '../../project/run-ports.ts'

/** Does the next task, or the one named, or one after the other. */
export async function run(context: Context): Promise<number> {
  const project = await openProject(context)
  const options = wishOf(context, project)
  if (context.options.on('dry-run')) {
    const { dryRun } = await import('../run/dry-run.ts')
    return dryRun(context, project, options)
  }
  return context.json ? runAsJson(context, project, options) : runForPerson(context, project, options)
}

async function checkedPorts(
  context: Context,
  project: Project,
  options: RunOptions,
  pause: () => void,
): Promise<RunPorts> {
  const wishes = agentWishes(context, project)
  // Beside the rest, for an agent may take a second to tell its version.
  const checked = checkAgents(wishes, tasksOf(project, options)).then(
    (warnings) => ({ warnings }),
    (error: unknown) => ({ error }),
  )
  const ports = await runPorts(context, project, { wishes, pause })
  const told = await checked
  if ('error' in told) throw told.error
  return { ...ports, ...told }
}

/** The tasks that the run may come to. */
function tasksOf({ selection, tasks }: Project, { task, loop }: RunOptions): readonly Task[] {
  if (task !== null) return tasks.filter(({ id }) => id === task)
  if (!loop) return selection.next ? [selection.next] : []
  const states = selection.states.filter(({ waiting }) => waiting.every(({ kind }) => kind === 'dependency'))
  return states.flatMap(({ task: one }) => (one.status === 'TODO' ? [one] : []))
}

function wishOf({ args, options, io, json }: Context, { root, config, tasks }: Project): RunOptions {
  const [named] = args
  const task = named === undefined ? null : findTask(tasks, named).id
  if (task !== null && options.on('loop')) {
    throw new UserError('--loop takes one task after the other, not the one named', 'Leave one of them out.')
  }
  return runOptions({ options, config, root, task, isInteractive: !json && io.dialogue() !== null })
}

async function runAsJson(context: Context, project: Project, options: RunOptions): Promise<number> {
  const ports = await checkedPorts(context, project, options, () => undefined)
  let code = 0
  for await (const event of runLoop(options, ports)) {
    context.printRaw(`${printableJson(JSON.stringify(runEventJson(event, project.tierOf)))}\n`)
    if (event.type === 'run-finished') code = exitCode(event)
  }
  return code
}

const TICK_MS = 500

async function runForPerson(context: Context, project: Project, options: RunOptions): Promise<number> {
  const { io } = context
  const reporter = new RunReporter({
    write: io.stdout.write,
    canvas: () => canvasFor(io.stdout, io.env, context.options.on('no-color')),
    measure: await measureForAny(),
    now: io.now,
    verbose: context.options.on('verbose'),
  })
  const ports = await checkedPorts(context, project, options, () => reporter.pause())
  const ticking = setInterval(() => reporter.tick(), TICK_MS)
  let code = 0
  try {
    for await (const event of runLoop(options, ports)) {
      reporter.event(event)
      if (event.type === 'run-finished') code = exitCode(event)
    }
  } finally {
    clearInterval(ticking)
    reporter.pause()
  }
  return code
}

function exitCode(finished: {
  readonly end: RunEnd
  readonly completed: readonly string[]
  readonly blocked: readonly string[]
  readonly failed: readonly string[]
}): number {
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
