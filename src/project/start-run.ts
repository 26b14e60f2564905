import type { Emit } from '../attempt/ports.ts'
import { UserError } from '../base/errors.ts'
import type { RunEvent } from '../events/event.ts'
import type { Control } from '../run/control.ts'
import type { RunOptions } from '../run/ports.ts'
import { runTasks } from '../run/run.ts'
import type { PersonTerminal } from '../process/terminal.ts'
import type { Task } from '../task/model.ts'
import { Agents } from './agents.ts'
import type { Project } from './project.ts'
import type { RunWish } from './run-options.ts'
import { runPorts, type Questions } from './run-ports.ts'
import { openSandbox, sandboxMode } from './sandbox.ts'
import type { World } from './world.ts'

/** What is to be run, who may be asked, and who hears what happens. */
interface RunStart {
  readonly wish: RunWish
  readonly options: RunOptions
  readonly questions: Questions
  /** Where a person can drive an agent. */
  readonly terminal?: PersonTerminal | null
  readonly emit: Emit<RunEvent>
  /** What somebody can do to it meanwhile; one of its own where nobody has another. */
  readonly control?: Control
}

/** Runs tasks of a project to the end. */
export async function startRun(
  world: World,
  project: Project,
  { wish, options, questions, terminal, emit, control }: RunStart,
): Promise<void> {
  if (options.byHand && !terminal)
    throw new UserError(
      '--interactive needs a terminal that a person sits at',
      'Run it in one, without --json and without a pipe.',
    )
  const mode = sandboxMode(wish.sandbox, { env: world.env, config: project.config })
  const sandbox = await openSandbox(mode, { env: world.env, ...project })
  const agents = new Agents(world, wish, { ...project, isCaged: sandbox.state.on })
  // Beside the rest, for an agent may take a second to print its version.
  const checked = agents.check(tasksOf(project, options)).then(
    (warnings) => ({ warnings }),
    (error: unknown) => ({ error }),
  )
  const ports = await runPorts(world, project, { agents, questions, terminal, sandbox, control })
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
