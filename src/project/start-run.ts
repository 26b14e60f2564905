import type { Emit } from '../attempt/ports.ts'
import type { RunEvent } from '../events/event.ts'
import type { Control } from '../run/control.ts'
import type { RunOptions } from '../run/ports.ts'
import { runTasks } from '../run/run.ts'
import type { Task } from '../task/model.ts'
import { Agents } from './agents.ts'
import type { Project } from './project.ts'
import type { RunWish } from './run-options.ts'
import { runPorts, type Questions } from './run-ports.ts'
import { openWithCommit } from './repository.ts'
import { openSandbox, sandboxMode } from './sandbox.ts'
import { withoutQueue, type World } from './world.ts'

/** What is to be run, who may be asked, and who hears what happens. */
interface RunStart {
  readonly wish: RunWish
  readonly options: RunOptions
  readonly questions: Questions
  readonly emit: Emit<RunEvent>
  /** What somebody can do to it meanwhile; one of its own where nobody has another. */
  readonly control?: Control
}

/** Runs tasks of a project to the end. */
export async function startRun(
  world: World,
  project: Project,
  { wish, options, questions, emit, control }: RunStart,
): Promise<void> {
  const mode = sandboxMode(wish.sandbox, { env: world.env, config: project.config })
  const sandbox = await openSandbox(mode, { env: world.env, ...project })
  const isElsewhere = wish.queue !== null
  const agents = new Agents(world, wish, { ...project, isCaged: sandbox.state.on, isElsewhere })
  const shared = isElsewhere ? await openShared(world, project, { wish, agents }) : null
  // Beside the rest, for an agent may take a second to print its version.
  const checked = agents.check(tasksOf(project, options)).then(
    (warnings) => ({ warnings }),
    (error: unknown) => ({ error }),
  )
  const ports = await runPorts(withoutQueue(world), project, {
    agents,
    questions,
    sandbox,
    control,
    shared,
  })
  const known = await checked
  if ('error' in known) throw known.error
  await runTasks(options, { ...ports, ...known }, emit)
}

/** What leads to workers is loaded only by a run that has them. */
async function openShared(
  world: World,
  project: Project,
  asked: { readonly wish: RunWish; readonly agents: Agents },
): Promise<ReturnType<typeof import('./queue.ts').openElsewhere>> {
  const { openElsewhere } = await import('./queue.ts')
  const { git } = await openWithCommit(world, project.root)
  return openElsewhere(world, project, { ...asked, git })
}

/** The tasks that the run may come to. */
function tasksOf({ selection, tasks }: Project, { task, loop }: RunOptions): readonly Task[] {
  if (task !== null) return tasks.filter(({ id }) => id === task)
  if (!loop) return selection.next ? [selection.next] : []
  const states = selection.states.filter(({ waiting }) => waiting.every(({ kind }) => kind === 'dependency'))
  return states.flatMap(({ task: one }) => (one.status === 'TODO' ? [one] : []))
}
