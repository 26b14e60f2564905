import { randomBytes } from 'node:crypto'
import { Control } from '../../engine/control.ts'
import { runFolder } from '../../engine/folder.ts'
import { openLogs } from '../../engine/journal.ts'
import type { RunPorts, TaskSource } from '../../engine/ports.ts'
import { openHome, type Home } from '../../engine/slot/home.ts'
import type { Workers } from '../../engine/workers/port.ts'
import { contentsOf } from '../../git/contents.ts'
import { openGit, openReadingGit } from '../../git/door.ts'
import { MODES } from '../../git/raw-changes.ts'
import { listRecords } from '../../git/record.ts'
import { pushBranch } from '../../git/remote.ts'
import { openSealer } from '../../git/seal/sealer.ts'
import { entriesIn } from '../../git/tree.ts'
import { newMark, withMark } from '../../process/mark.ts'
import { sleep } from '../../process/sleep.ts'
import { StartedProcesses } from '../../process/started.ts'
import { endLeftovers } from '../../process/tree.ts'
import { answerTask, blockTask, completeTask, retryTask, taskToAdd } from '../../backlog/finish.ts'
import type { Task } from '../../backlog/model.ts'
import { inOrder } from '../../backlog/order.ts'
import { parseTask, unreadableTask } from '../../backlog/parse.ts'
import { asSpelled } from '../../backlog/status-spelling.ts'
import type { Agents } from '../../agents/agents.ts'
import { highestNumber } from '../../authoring/new-task.ts'
import { openOrigins } from '../../authoring/origins.ts'
import type { Place, Project } from '../../config/project.ts'
import { openWithCommit } from '../../git/open-repository.ts'
import type { Sandbox } from './sandbox.ts'
import { slotsOf } from './slots.ts'
import type { World } from '../../base/world.ts'

/** What the ports of a run are made of, besides the project; without a person, nobody is asked. */
interface RunWiring extends Partial<Pick<RunPorts, 'ask' | 'terminal' | 'control'>> {
  readonly agents: Agents
  readonly sandbox: Sandbox
  /** What makes its attempts elsewhere; null if all attempts are made here. */
  readonly workers?: Workers | null
}

/** The real ports of a run. `project` is as the run is to read it; `root` is its place in the checkout. */
export async function runPorts(
  world: World,
  project: Project,
  { agents, sandbox, ask = null, terminal = null, control = new Control(), workers = null }: RunWiring,
): Promise<RunPorts> {
  const { root, vocabulary, config, tierOf } = project
  const { env } = world
  const { repository } = await openWithCommit(world, root)
  const mark = newMark()
  const home = await openHome(openGit({ cwd: repository.root, env: withMark(env, mark) }), repository, root)
  const folder = runFolder(root, repository)
  control.obey(world.signal, world.urgent)
  const now = (): number => world.now().getTime()
  const started = new StartedProcesses(now)
  const words = asSpelled(vocabulary, project.tasks)
  const parsed = (file: string, text: string): Promise<Task> => parseTask({ file, text }, vocabulary)
  let drafter: RunPorts['draftTask'] | null = null
  return {
    home,
    slots: slotsOf(project, { home, env, agents, sandbox, started }),
    workers,
    source: branchTasks(home, project),
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
    async draftTask(draft, tasks) {
      const { taskAdder } = await import('../../authoring/add-task.ts')
      const git = openReadingGit({ cwd: root, env })
      drafter ??= taskAdder(project, (known) => highestNumber(git, project, known))
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
    env,
    control,
    pid: world.pid,
  }
}

/** The tasks of a branch, read from commits: a file that has not changed is not read again. */
export function branchTasks(
  { git, prefix }: Home,
  { folders, vocabulary }: Pick<Place, 'folders' | 'vocabulary'>,
): TaskSource {
  let read: string | null = null
  let known = new Map<string, { readonly hash: string; readonly task: Task }>()
  let tasks: readonly Task[] = []
  const filesAt = async (commit: string) => {
    const below = folders.names.map((folder) => (folder === '.' ? prefix : `${prefix}${folder}/`))
    const entries = await entriesIn(git, ['--full-tree', commit, '--', ...below.filter(Boolean)])
    return entries.flatMap((entry) => {
      const path = entry.path.slice(prefix.length)
      return entry.path.startsWith(prefix) && folders.includes(path) ? [{ ...entry, path }] : []
    })
  }
  return {
    folders,
    tasks: () => tasks,
    async at(commit) {
      if (commit === read) return
      const files = await filesAt(commit)
      const changed = files.filter(({ path, hash }) => known.get(path)?.hash !== hash)
      const hashes = changed.map(({ hash }) => hash)
      const texts = await contentsOf(git, hashes)
      for (const { path: file, mode, hash } of changed) {
        const text = texts.get(hash)?.toString() ?? ''
        const task =
          mode === MODES.link
            ? unreadableTask(file, 'it is a link')
            : await parseTask({ file, text }, vocabulary)
        known.set(file, { hash, task })
      }
      known = new Map(files.map(({ path }) => [path, known.get(path)!]))
      tasks = inOrder([...known.values()].map(({ task }) => task))
      read = commit
    },
  }
}
