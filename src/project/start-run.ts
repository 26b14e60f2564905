import type { Emit } from '../attempt/ports.ts'
import type { RunEvent } from '../events/event.ts'
import type { Control } from '../run/control.ts'
import type { RunOptions } from '../run/ports.ts'
import { runTasks } from '../run/run.ts'
import type { Task } from '../task/model.ts'
import { Agents } from './agents.ts'
import { Notifier } from './notify.ts'
import type { Project } from './project.ts'
import type { RunWish } from './run-options.ts'
import type { Questions } from './questions.ts'
import { runPorts } from './run-ports.ts'
import { openSandbox, sandboxMode } from './sandbox.ts'
import type { World } from './world.ts'

/** What is to be run, who may be asked, and who hears what happens. */
interface RunStart {
  readonly wish: RunWish
  readonly options: RunOptions
  readonly questions: Questions
  readonly emit: Emit<RunEvent>
  /** What somebody can do to it meanwhile; one of its own where nobody has another. */
  readonly control?: Control
  /** Says what did not work after the run was over. */
  readonly warn?: (message: string) => void
}

/** Runs tasks of a project to the end. */
export async function startRun(
  world: World,
  project: Project,
  { wish, options, questions, emit, control, warn }: RunStart,
): Promise<void> {
  const mode = sandboxMode(wish.sandbox, { env: world.env, config: project.config })
  const sandbox = await openSandbox(mode, { env: world.env, ...project })
  const agents = new Agents(world, wish, { ...project, isCaged: sandbox.state.on })
  // Beside the rest, for an agent may take a second to print its version.
  const checked = agents.check(tasksOf(project, options)).then(
    (warnings) => ({ warnings }),
    (error: unknown) => ({ error }),
  )
  const ports = await runPorts(world, project, { agents, questions, sandbox, control })
  const known = await checked
  if ('error' in known) throw known.error
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
    await runTasks(options, { ...ports, ...known }, (event) => {
      isOver ||= event.type === 'run-finished'
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
