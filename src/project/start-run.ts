import type { Emit } from '../attempt/ports.ts'
import { UserError } from '../base/errors.ts'
import type { RunEvent } from '../events/event.ts'
import type { Control } from '../run/control.ts'
import type { RunOptions } from '../run/ports.ts'
import { runTasks } from '../run/run.ts'
import type { PersonTerminal } from '../process/terminal.ts'
import type { Task } from '../task/model.ts'
import { Agents } from './agents.ts'
import { Notifier } from './notify.ts'
import type { Project } from './project.ts'
import type { RunWish } from './run-options.ts'
import type { Questions } from './questions.ts'
import { runPorts } from './run-ports.ts'
import { openWithCommit } from './repository.ts'
import { openSandbox, sandboxMode } from './sandbox.ts'
import { withoutQueue, type World } from './world.ts'

/** The options of a run, its questions, and its listeners. */
interface RunStart {
  readonly wish: RunWish
  readonly options: RunOptions
  readonly questions: Questions
  /** Where a person can drive an agent. */
  readonly terminal?: PersonTerminal | null
  readonly emit: Emit<RunEvent>
  /** The control of the run; by default a new one. */
  readonly control?: Control
  /** Reports what failed after the end of the run. */
  readonly warn?: (message: string) => void
}

/** Runs tasks of a project to the end. */
export async function startRun(
  world: World,
  project: Project,
  { wish, options, questions, terminal, emit, control, warn }: RunStart,
): Promise<void> {
  if (options.byHand && !terminal)
    throw new UserError(
      '--interactive needs a terminal that a person sits at',
      'Run it in one, without --json and without a pipe.',
    )
  const mode = sandboxMode(wish.sandbox, { env: world.env, config: project.config })
  const sandbox = await openSandbox(mode, { env: world.env, ...project })
  const isElsewhere = wish.queue !== null
  const agents = new Agents(world, wish, { ...project, isCaged: sandbox.state.on, isElsewhere })
  const shared = isElsewhere ? await openShared(world, project, { wish, agents }) : null
  // In parallel with the rest, because an agent may take a second to print its version.
  const checked = agents.check(tasksOf(project, options)).then(
    (warnings) => ({ warnings }),
    (error: unknown) => ({ error }),
  )
  const ports = await runPorts(withoutQueue(world), project, {
    agents,
    questions,
    terminal,
    sandbox,
    control,
    shared,
  })
  const agentPorts = await checked
  if ('error' in agentPorts) throw agentPorts.error
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
    await runTasks(options, { ...ports, ...agentPorts }, (event) => {
      isOver ||= event.type === 'run-finished'
      emit(event)
      notifier.event(event)
    })
  } finally {
    await notifier.settled()
  }
}

/** Loads the code for workers only if the run uses them. */
async function openShared(
  world: World,
  project: Project,
  request: { readonly wish: RunWish; readonly agents: Agents },
): Promise<ReturnType<typeof import('./queue.ts').openElsewhere>> {
  const { openElsewhere } = await import('./queue.ts')
  const { git } = await openWithCommit(world, project.root)
  return openElsewhere(world, project, { ...request, git })
}

/** The tasks that the run may come to. */
function tasksOf({ selection, tasks }: Project, { task, loop }: RunOptions): readonly Task[] {
  if (task !== null) return tasks.filter(({ id }) => id === task)
  if (!loop) return selection.next ? [selection.next] : []
  const states = selection.states.filter(({ waiting }) => waiting.every(({ kind }) => kind === 'dependency'))
  return states.flatMap(({ task: one }) => (one.status === 'TODO' ? [one] : []))
}
