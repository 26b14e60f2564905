import { randomBytes } from 'node:crypto'
import { missingProgram } from '../gates/missing-program.ts'
import { gateRunner } from '../gates/run.ts'
import { openGit, openReadingGit } from '../git/door.ts'
import { listRecords } from '../git/record.ts'
import { pushBranch } from '../git/remote.ts'
import { openSealer } from '../git/seal/sealer.ts'
import { newMark, withMark } from '../process/mark.ts'
import { findShell } from '../process/program.ts'
import { sleep } from '../process/sleep.ts'
import type { PersonTerminal } from '../process/terminal.ts'
import { StartedProcesses } from '../process/started.ts'
import { commandsLeftBy } from '../process/tree.ts'
import { noteFile, type NoteStore } from '../plan/note.ts'
import type { AgentAtWork } from '../run/ask-agent.ts'
import { Control } from '../run/control.ts'
import type { Elsewhere } from '../run/elsewhere.ts'
import { runFolder } from '../run/folder.ts'
import { openLogs } from '../run/journal.ts'
import type { RunPorts } from '../run/ports.ts'
import { openTaskFolder } from '../run/source.ts'
import { answerTask, blockTask, completeTask, retryTask } from '../task/finish.ts'
import type { Task } from '../task/model.ts'
import { asSpelled } from '../task/status-spelling.ts'
import { openWorkspace } from '../workspace/open.ts'
import type { Remote } from '../worker/remote.ts'
import type { Agents } from './agents.ts'
import { highestNumber } from './highest-number.ts'
import type { Project } from './project.ts'
import type { Questions } from './questions.ts'
import { openOrigins } from './origins.ts'
import { openRepository } from './repository.ts'
import type { Sandbox, SandboxedPlace } from './sandbox.ts'
import { promptOf } from './task-prompt.ts'
import { workspacesOf, type ProcessPorts } from './workspaces.ts'
import type { World } from './world.ts'

/** The real ports of a run, except what is known of the agents beforehand. */
export async function runPorts(
  world: World,
  project: Project,
  {
    agents,
    questions,
    terminal = null,
    sandbox,
    control = new Control(),
    shared = null,
    furnishedAs,
  }: {
    readonly agents: Agents
    readonly questions: Questions
    /** Where a person can drive an agent; null if there is no terminal. */
    readonly terminal?: PersonTerminal | null | undefined
    readonly sandbox: Sandbox
    readonly control?: Control | undefined
    /** What makes its attempts elsewhere, and the remote for them; null if all attempts are made here. */
    readonly shared?: { readonly elsewhere: Elsewhere; readonly remote: Remote } | null
    /** A folder whose lock files decide how workspaces are prepared, instead of the project's. */
    readonly furnishedAs?: string
  },
): Promise<Omit<RunPorts, 'warnings'>> {
  const { root, vocabulary, config, tierOf } = project
  const { repository } = await openRepository(world, root)
  const mark = newMark()
  const git = openGit({ cwd: repository.root, env: withMark(world.env, mark) })
  const folder = runFolder(root, repository)
  control.obey(world.signal, world.urgent)
  let adder: RunPorts['addTask'] | null = null
  const now = (): number => world.now().getTime()
  const started = new StartedProcesses(now)
  const startsIn = async (place: SandboxedPlace): Promise<ProcessPorts> => {
    const starts = await sandbox.starts(place, started)
    return {
      agent: (choice) => agents.open(choice, starts),
      runGate: gateRunner(starts.gate),
      runGateUncaged: sandbox.state.on ? gateRunner(starts.uncaged) : null,
      runPrepare: gateRunner(starts.prepare),
      missingProgram: (command) => missingProgram(command, { cwd: place.root, env: world.env }),
    }
  }
  const parsed = async (file: string, text: string): Promise<Task> => {
    const { parseTask } = await import('../task/parse.ts')
    return parseTask({ file, text }, vocabulary)
  }
  const words = asSpelled(vocabulary, project.tasks)
  const workspace = openWorkspace(git, repository, root)
  const sealer = (door: typeof git): ReturnType<typeof openSealer> | null =>
    config.commit.seal ? openSealer(door, config.commit.digits, { signal: control.signal, now }) : null
  return {
    ...(await startsIn({ root, repository, git, isOwn: false })),
    workspace,
    workspaces: workspacesOf(project, {
      git,
      repository,
      home: workspace,
      env: world.env,
      sealer,
      startsIn,
      promptIn: (at) => promptOf({ ...project, root: at }, git.at(at)),
      checkpoint: () => undefined,
      furnishedAs,
      remote: shared?.remote ?? null,
    }),
    elsewhere: shared?.elsewhere ?? null,
    source: await openTaskFolder(project),
    edits: {
      complete: (task, completion) => completeTask(task, completion, words),
      block: (task, blockage) => blockTask(task, blockage, words),
      answer: (task, exchange) => answerTask(task, exchange, words),
      reopened: (task) => parsed(task.file, retryTask(task, words)),
    },
    origins: await openOrigins(config.bridges, root),
    folder,
    logs: openLogs(folder, config.logs.maxBytes),
    records: () => listRecords(git),
    tierOf,
    agentsFor: (task) => agents.choicesFor(task),
    prompt: promptOf(project, git),
    sandbox: sandbox.state,
    shell: findShell(world.env),
    statusIn: async (file, text) => (await parsed(file, text)).status,
    sealer: sealer(git),
    ...questions,
    terminal,
    server: world.self,
    addTask: async (draft, at) => {
      adder ??= (await import('./add-task.ts')).taskAdder(project, (tasks) =>
        highestNumber(openReadingGit({ cwd: project.root, env: world.env }), project, tasks),
      )
      return adder(draft, at)
    },
    push: () => pushBranch(git),
    newToken: () => randomBytes(4).toString('hex'),
    mark,
    onStarted: (listener) => started.listen(listener),
    endLeftovers: commandsLeftBy,
    planner: plannerIn(noteFile(folder.plan)),
    now: world.now,
    sleep,
    checkpoint: () => undefined,
    env: world.env,
    control,
    pid: world.pid,
  }
}

/** The agent in the note of a killed planning. */
function plannerIn(note: NoteStore): RunPorts['planner'] {
  return {
    read: () => (note.read()?.work ?? null) as AgentAtWork | null,
    forget() {
      const noted = note.read()
      if (noted) note.write({ ...noted, work: null })
    },
  }
}
