import { stateKeeper } from '../../authoring/bridges/run-state.ts'
import { UserError } from '../../base/errors.ts'
import type { Emit, RunOptions, RunPorts } from '../../engine/ports.ts'
import { runTasks } from '../../engine/run.ts'
import type { RunEvent } from '../../engine/events/event.ts'
import type { Task } from '../../backlog/model.ts'
import { Agents } from '../../agents/agents.ts'
import { openNotifier } from '../../screen/notify.ts'
import type { Project } from '../../config/project.ts'
import type { RunRequest } from './run-options.ts'
import { runPorts } from './run-ports.ts'
import { openSandbox } from './sandbox.ts'
import type { World } from '../../base/world.ts'
import { withoutQueue } from '../../config/queue-url.ts'

/** The options of a run, its questions, its listeners, and what a person should know before it begins. */
interface RunStart extends Pick<RunPorts, 'ask' | 'terminal' | 'control' | 'warnings'> {
  readonly request: RunRequest
  readonly options: RunOptions
  readonly emit: Emit<RunEvent>
  /** Reports what failed after the end of the run. */
  readonly warn: (message: string) => void
}

/** Runs tasks of a project to the end. */
export async function startRun(world: World, project: Project, start: RunStart): Promise<void> {
  const { request, options, ask, terminal, control, emit, warn } = start
  if (options.byHand && !terminal)
    throw new UserError(
      '--interactive needs a terminal that a person sits at',
      'Run it in one, without --json and without a pipe.',
    )
  const { queue } = request
  const sandbox = await openSandbox(world.env, project, request.sandbox)
  const isElsewhere = queue != null
  const agents = new Agents(world, request, { ...project, isCaged: sandbox.state.on, isElsewhere })
  const workers = isElsewhere
    ? await (await import('./queue.ts')).openCoordinator(world, project, { queue, agents })
    : null
  // In parallel with the rest, because an agent may take a second to print its version.
  const checking = agents.check(tasksOf(project, options))
  // An error is thrown where it is awaited.
  checking.catch(() => undefined)
  const wiring = { agents, ask, terminal, sandbox, control, workers }
  const ports = await runPorts(withoutQueue(world), project, wiring)
  const warnings = [...start.warnings, ...(await checking)]
  let isOver = false
  const notifier = openNotifier(world, {
    config: project.config.notify,
    root: project.root,
    warn(message) {
      if (isOver) warn(message)
      else emit({ type: 'warning', at: world.now().toISOString(), message })
    },
  })
  try {
    const keepState = stateKeeper(ports.folder.state, () => ports.source.tasks())
    await runTasks(options, { ...ports, warnings }, (event) => {
      isOver ||= event.type === 'run-finished'
      keepState(event)
      emit(event)
      notifier.event(event)
    })
  } finally {
    await notifier.settled()
  }
}

/** The tasks that the run may come to. */
function tasksOf({ selection, tasks }: Project, { task, loop }: RunOptions): readonly Task[] {
  if (task !== null) return tasks.filter(({ id }) => id === task)
  if (!loop) return selection.next ? [selection.next] : []
  const states = selection.states.filter(({ waiting }) => waiting.every(({ kind }) => kind === 'dependency'))
  return states.flatMap(({ task: one }) => (one.status === 'TODO' ? [one] : []))
}
