import { randomBytes } from 'node:crypto'
import { Control } from '../../engine/control.ts'
import { runFolder } from '../../engine/folder.ts'
import { openLogs } from '../../engine/journal.ts'
import type { RunPorts } from '../../engine/ports.ts'
import { openHome } from '../../engine/slot/home.ts'
import { BranchTasks } from './branch-tasks.ts'
import type { Workers } from '../../engine/workers/port.ts'
import { openGit, openReadingGit } from '../../git/door.ts'
import { listRecords } from '../../git/record.ts'
import { pushBranch } from '../../git/remote.ts'
import { openSealer } from '../../git/seal/sealer.ts'
import { newMark, withMark } from '../../process/mark.ts'
import { sleep } from '../../process/sleep.ts'
import { StartedProcesses } from '../../process/started.ts'
import type { PersonTerminal } from '../../process/terminal.ts'
import { endLeftovers } from '../../process/tree.ts'
import { answerTask, blockTask, completeTask, retryTask, taskToAdd } from '../../backlog/finish.ts'
import type { Task } from '../../backlog/model.ts'
import { parseTask } from '../../backlog/parse.ts'
import { asSpelled } from '../../backlog/status-spelling.ts'
import type { Agents } from '../../agents/agents.ts'
import { highestNumber } from '../../authoring/highest-number.ts'
import { openOrigins } from '../../authoring/origins.ts'
import type { Project } from '../../config/project.ts'
import { openWithCommit } from '../../git/open-repository.ts'
import type { Sandbox } from './sandbox.ts'
import { slotsOf } from './slots.ts'
import type { World } from '../../base/world.ts'

/** What the ports of a run are made of, besides the project. */
interface RunWiring {
  readonly agents: Agents
  readonly ask: RunPorts['ask']
  /** Where a person can drive an agent; null if there is no terminal. */
  readonly terminal?: PersonTerminal | null | undefined
  readonly sandbox: Sandbox
  readonly control?: Control | undefined
  /** What makes its attempts elsewhere; null if all attempts are made here. */
  readonly workers?: Workers | null
}

/** The real ports of a run. `project` is as the run is to read it; `root` is its place in the checkout. */
export async function runPorts(
  world: World,
  project: Project,
  { agents, ask, terminal = null, sandbox, control = new Control(), workers = null }: RunWiring,
): Promise<RunPorts> {
  const { root, vocabulary, config, tierOf } = project
  const { repository } = await openWithCommit(world, root)
  const mark = newMark()
  const home = await openHome(
    openGit({ cwd: repository.root, env: withMark(world.env, mark) }),
    repository,
    root,
  )
  const folder = runFolder(root, repository)
  control.obey(world.signal, world.urgent)
  const now = (): number => world.now().getTime()
  const started = new StartedProcesses(now)
  const words = asSpelled(vocabulary, project.tasks)
  const parsed = (file: string, text: string): Promise<Task> => parseTask({ file, text }, vocabulary)
  const highest = (tasks: readonly Task[]): Promise<number> =>
    highestNumber(openReadingGit({ cwd: root, env: world.env }), project, tasks)
  let drafter: RunPorts['draftTask'] | null = null
  return {
    home,
    slots: slotsOf(project, { home, env: world.env, agents, sandbox, started }),
    workers,
    source: new BranchTasks(home, project),
    edits: {
      complete: (task, completion) => completeTask(task, completion, words),
      block: (task, blockage) => blockTask(task, blockage, words),
      answer: (task, exchange) => answerTask(task, exchange, words),
      reopened: (task) => parsed(task.file, retryTask(task, words)),
    },
    origins: (await openOrigins(config.bridges, root)).files,
    folder,
    logs: openLogs(folder, config.logs.maxBytes),
    records: () => listRecords(home.git),
    tierOf,
    agentsFor: (task) => agents.choicesFor(task),
    sandbox: sandbox.state,
    taskToAdd: async (file, text) => taskToAdd(await parsed(file, text)),
    sealer: config.commit.seal
      ? openSealer(home.git, config.commit.digits, { signal: control.signal, now })
      : null,
    ask,
    terminal,
    server: world.self,
    draftTask: async (draft, tasks) => {
      drafter ??= (await import('../../authoring/add-task.ts')).taskAdder(project, highest)
      return drafter(draft, tasks)
    },
    push: () => pushBranch(home.git),
    warnings: [],
    newToken: () => randomBytes(4).toString('hex'),
    mark,
    onStarted: (listener) => started.listen(listener),
    endLeftovers,
    now: world.now,
    sleep,
    checkpoint: () => undefined,
    env: world.env,
    control,
    pid: world.pid,
  }
}
