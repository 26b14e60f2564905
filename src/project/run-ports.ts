import { randomBytes } from 'node:crypto'
import { gateRunner } from '../gates/run.ts'
import { openGit } from '../git/door.ts'
import { listRecords } from '../git/record.ts'
import { pushBranch } from '../git/remote.ts'
import { openSealer } from '../git/seal/sealer.ts'
import { newMark, withMark } from '../process/mark.ts'
import { findShell } from '../process/program.ts'
import { sleep } from '../process/sleep.ts'
import { StartedProcesses } from '../process/started.ts'
import { endLeftovers } from '../process/tree.ts'
import { Control } from '../run/control.ts'
import { runFolder } from '../run/folder.ts'
import { openLogs } from '../run/journal.ts'
import type { RunPorts } from '../run/ports.ts'
import { openTaskFolder } from '../run/source.ts'
import { answerTask, blockTask, completeTask, retryTask } from '../task/finish.ts'
import type { Task } from '../task/model.ts'
import { openWorkspace } from '../workspace/open.ts'
import type { Agents } from './agents.ts'
import type { Project } from './project.ts'
import { openRepository } from './repository.ts'
import { promptOf } from './task-prompt.ts'
import type { World } from './world.ts'

/** What a run can ask a person. */
export type Questions = Pick<RunPorts, 'ask' | 'askToCommit'>

/** Everything that a run touches, as it really is, but what is known of the agents beforehand. */
export async function runPorts(
  world: World,
  project: Project,
  {
    agents,
    questions,
    control = new Control(),
  }: { readonly agents: Agents; readonly questions: Questions; readonly control?: Control | undefined },
): Promise<Omit<RunPorts, 'warnings'>> {
  const { root, dir, vocabulary, config, tierOf } = project
  const { repository } = await openRepository(world, root)
  const mark = newMark()
  const git = openGit({ cwd: repository.root, env: withMark(world.env, mark) })
  const folder = runFolder(root, repository)
  const started = new StartedProcesses()
  control.obey(world.signal, world.urgent)
  const now = (): number => world.now().getTime()
  const parsed = async (file: string, text: string): Promise<Task> => {
    const { parseTask } = await import('../task/parse.ts')
    return parseTask({ file, text }, vocabulary)
  }
  return {
    workspace: openWorkspace(git, repository, root),
    source: await openTaskFolder({ root, dir, vocabulary }),
    edits: {
      complete: (task, completion) => completeTask(task, completion, vocabulary),
      block: (task, blockage) => blockTask(task, blockage, vocabulary),
      answer: (task, exchange) => answerTask(task, exchange, vocabulary),
      reopened: (task) => parsed(task.file, retryTask(task, vocabulary)),
    },
    folder,
    logs: openLogs(folder, config.logs.maxBytes),
    records: () => listRecords(git),
    tierOf,
    agentsFor: (task) => agents.choicesFor(task),
    agent: (choice) => agents.open(choice, started.start),
    prompt: promptOf(project, git),
    runGate: gateRunner(started.start),
    shell: findShell(world.env),
    statusIn: async (file, text) => (await parsed(file, text)).status,
    sealer: config.commit.seal
      ? openSealer(git, config.commit.digits, { signal: control.signal, now })
      : null,
    ...questions,
    push: () => pushBranch(git),
    newToken: () => randomBytes(4).toString('hex'),
    mark,
    onStarted: (listener) => started.listen(listener),
    endLeftovers: async (dead) => (await endLeftovers(dead)).map(({ command }) => command),
    now: world.now,
    sleep,
    checkpoint: () => undefined,
    env: world.env,
    control,
    pid: world.pid,
  }
}
