import { stateKeeper } from '../../authoring/bridges/run-state.ts'
import { UserError } from '../../base/errors.ts'
import type { Control } from '../../engine/control.ts'
import type { Emit, RunOptions, RunPorts } from '../../engine/ports.ts'
import { runTasks } from '../../engine/run.ts'
import type { RunEvent } from '../../engine/events/event.ts'
import type { PersonTerminal } from '../../process/terminal.ts'
import type { Task } from '../../backlog/model.ts'
import { Agents } from '../../agents/agents.ts'
import { Notifier } from '../../screen/notify.ts'
import type { Project } from '../../config/project.ts'
import { openWithCommit } from '../../git/open-repository.ts'
import type { RunRequest } from './run-options.ts'
import { runPorts } from './run-ports.ts'
import { openSandbox } from './sandbox.ts'
import type { World } from '../../base/world.ts'
import { withoutQueue } from '../../config/queue-url.ts'

/** The options of a run, its questions, and its listeners. */
interface RunStart {
  readonly request: RunRequest
  readonly options: RunOptions
  readonly ask: RunPorts['ask']
  /** Where a person can drive an agent. */
  readonly terminal?: PersonTerminal | null
  readonly emit: Emit<RunEvent>
  /** The control of the run; by default a new one. */
  readonly control?: Control
  /** Reports what failed after the end of the run. */
  readonly warn?: (message: string) => void
  /** What a person should know before it begins. */
  readonly warnings: readonly string[]
}

/** Runs tasks of a project to the end. */
export async function startRun(
  world: World,
  project: Project,
  { request, options, ask, terminal, emit, control, warn, warnings }: RunStart,
): Promise<void> {
  if (options.byHand && !terminal)
    throw new UserError(
      '--interactive needs a terminal that a person sits at',
      'Run it in one, without --json and without a pipe.',
    )
  const sandbox = await openSandbox(world.env, project, request.sandbox)
  const isElsewhere = request.queue != null
  const agents = new Agents(world, request, { ...project, isCaged: sandbox.state.on, isElsewhere })
  const workers = isElsewhere ? await openWorkers(world, project, { queue: request.queue, agents }) : null
  // In parallel with the rest, because an agent may take a second to print its version.
  const checked = agents.check(tasksOf(project, options)).then(
    (found) => ({ warnings: found }),
    (error: unknown) => ({ error }),
  )
  const wiring = { agents, ask, terminal, sandbox, control, workers }
  const ports = await runPorts(withoutQueue(world), project, wiring)
  const ofAgents = await checked
  if ('error' in ofAgents) throw ofAgents.error
  let isOver = false
  const notifier = new Notifier(world, {
    config: project.config.notify,
    root: project.root,
    warn(message) {
      if (isOver) warn?.(message)
      else emit({ type: 'warning', at: world.now().toISOString(), message })
    },
  })
  try {
    const said = { warnings: [...warnings, ...ofAgents.warnings] }
    const keepState = stateKeeper(ports.folder.state, () => ports.source.tasks())
    await runTasks(options, { ...ports, ...said }, (event) => {
      isOver ||= event.type === 'run-finished'
      keepState(event)
      emit(event)
      notifier.event(event)
    })
  } finally {
    await notifier.settled()
  }
}

/** Loads the code for workers only if the run uses them. */
async function openWorkers(
  world: World,
  project: Project,
  request: { readonly queue: string; readonly agents: Agents },
): Promise<ReturnType<typeof import('./queue.ts').openCoordinator>> {
  const { openCoordinator } = await import('./queue.ts')
  const { git } = await openWithCommit(world, project.root)
  return openCoordinator(world, project, { ...request, git })
}

/** The tasks that the run may come to. */
function tasksOf({ selection, tasks }: Project, { task, loop }: RunOptions): readonly Task[] {
  if (task !== null) return tasks.filter(({ id }) => id === task)
  if (!loop) return selection.next ? [selection.next] : []
  const states = selection.states.filter(({ waiting }) => waiting.every(({ kind }) => kind === 'dependency'))
  return states.flatMap(({ task: one }) => (one.status === 'TODO' ? [one] : []))
}
