import { stateKeeper } from '../../authoring/bridges/run-state.ts'
import { unreadText } from '../../config/unread.ts'
import { deepFolder } from '../../base/folder.ts'
import { UserError } from '../../base/errors.ts'
import type { Emit, RunOptions, RunPorts, TaskSource } from '../../engine/ports.ts'
import { runTasks } from '../../engine/run.ts'
import type { RunEvent } from '../../engine/events/event.ts'
import type { Task } from '../../backlog/model.ts'
import { openNotifier } from '../../screen/notify.ts'
import type { Project, Place } from '../../config/project.ts'
import type { World } from '../../base/world.ts'
import { withoutQueue } from '../../config/queue-url.ts'
import { Control } from '../../engine/control.ts'
import { runFolder } from '../../engine/folder.ts'
import { openLogs } from '../../engine/journal.ts'
import { openHome, type Home } from '../../engine/slot/home.ts'
import type { Coordinator } from '../../engine/workers/coordinator.ts'
import { contentsOf } from '../../git/contents.ts'
import { openGit, openReadingGit } from '../../git/door.ts'
import { MODES } from '../../git/raw-changes.ts'
import { openSealer } from '../../git/seal/sealer.ts'
import { entriesIn } from '../../git/tree.ts'
import { newMark, withMark } from '../../process/mark.ts'
import { sleep } from '../../process/sleep.ts'
import { StartedProcesses } from '../../process/started.ts'
import { inOrder } from '../../backlog/order.ts'
import { parseTask, unreadableTask } from '../../backlog/parse.ts'
import { asSpelled } from '../../backlog/status-spelling.ts'
import { Agents } from '../../agents/agents.ts'
import { highestNumber } from '../../authoring/new-task.ts'
import { openOrigins } from '../../authoring/origins.ts'
import { openWithCommit } from '../../git/open-repository.ts'
import { askForGates, lackOfGates } from './need-gates.ts'
import { openSandbox, trackedEnvFiles, type Sandbox } from './sandbox.ts'
import { slotsOf } from './slots.ts'
import type { Gate } from '../../base/nouns.ts'
import { detectGates } from '../../config/detect-gates.ts'
import { GATE_TIMEOUT_SECONDS, type Config } from '../../config/defaults.ts'
import type { OptionsOf } from '../options/option.ts'
import type { RUN_OPTIONS } from '../options/run-options.ts'

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
  const { request, ask, terminal, control, emit, warn } = start
  if (start.options.byHand && !terminal)
    throw new UserError(
      '--interactive needs a terminal that a person sits at',
      'Run it in one, without --json and without a pipe.',
    )
  const { queue } = request
  const { agents, sandbox } = await openAgents(world, project, request)
  const tasks = tasksOf(project, start.options)
  const lack = await lackOfGates(project, { ...start, isAsked: request.gates != null, tasks, agents })
  // Workers read the committed configuration.
  const gates =
    lack === null ? start.options.gates : await askForGates(world, project, queue == null ? ask : null)
  const options = { ...start.options, gates }
  const workers =
    queue == null
      ? null
      : await (await import('./workers.ts')).openCoordinator(world, project, { queue, agents })
  // In parallel with the rest, because an agent may take a second to print its version.
  const checking = agents.check(tasks)
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

/** The agents of a run, and the sandbox around them. */
export async function openAgents(world: World, project: Project, request: RunRequest) {
  const sandbox = await openSandbox(world.env, project, request.sandbox)
  const isElsewhere = request.queue != null
  const agents = new Agents(world, request, { ...project, isCaged: sandbox.state.on, isElsewhere })
  return { agents, sandbox }
}

/** What the ports of a run are made of, besides the project; without a person, nobody is asked. */
interface RunWiring extends Partial<Pick<RunPorts, 'ask' | 'terminal' | 'control'>> {
  readonly agents: Agents
  readonly sandbox: Sandbox
  /** What makes its attempts elsewhere; null if all attempts are made here. */
  readonly workers?: Coordinator | null
}

/** The real ports of a run. `project` is as the run is to read it; `root` is its place in the checkout. */
export async function runPorts(
  world: World,
  project: Project,
  { agents, sandbox, ask = null, terminal = null, control = new Control(), workers = null }: RunWiring,
): Promise<RunPorts> {
  const { root, vocabulary, config, folders, tierOf } = project
  const { env } = world
  const { repository } = await openWithCommit(world, root)
  const mark = newMark()
  const home = await openHome(openGit({ cwd: repository.root, env: withMark(env, mark) }), repository, root)
  const folder = runFolder(root, repository)
  control.obey(world.signal, world.urgent)
  const now = (): number => world.now().getTime()
  const started = new StartedProcesses(now)
  const words = asSpelled(vocabulary, project.tasks)
  let drafter: RunPorts['draftTask'] | null = null
  return {
    home,
    slots: slotsOf(project, { home, env, agents, sandbox, started }),
    workers,
    source: branchTasks(home, { folders, words, unread: () => unreadText(project) }),
    secrets: { values: await secretsOf(home, env), allow: config.secrets.allow },
    origins: (await openOrigins(config.bridges, root)).files,
    folder,
    logs: openLogs(folder, config.logs.maxBytes),
    tierOf,
    agentsFor: (task) => agents.choicesFor(task),
    reviewersFor: (task) => agents.reviewersFor(task),
    sandbox: sandbox.state,
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
    warnings: [],
    mark,
    onStarted: (listener) => started.listen(listener),
    now: world.now,
    sleep,
    checkpoint: () => undefined,
    env,
    control,
    pid: world.pid,
  }
}

/** What the person keeps from agents, and no commit may hold. */
async function secretsOf({ git, repository }: Home, env: World['env']): Promise<readonly string[]> {
  const { secretValues } = await import('../../process/cage/rules.ts')
  return secretValues({ top: repository.root, tracked: await trackedEnvFiles(git) }, env)
}

/** The tasks of a branch, read from commits: a file that has not changed is not read again. */
export function branchTasks(
  { git, prefix }: Home,
  { folders, words, unread }: Pick<TaskSource, 'folders' | 'words' | 'unread'>,
): TaskSource {
  let read: string | null = null
  let suffixed = ''
  let known = new Map<string, { readonly hash: string; readonly task: Task }>()
  let tasks: readonly Task[] = []
  const filesAt = async (commit: string) => {
    const within = folders.names.map((name) => deepFolder(name) ?? name)
    const below = within.map((folder) => (folder === '.' ? prefix : `${prefix}${folder}/`))
    const deep = folders.names.some((name) => deepFolder(name) !== null) ? ['-r'] : []
    const entries = await entriesIn(git, ['--full-tree', ...deep, commit, '--', ...below.filter(Boolean)])
    return entries.flatMap((entry) => {
      const path = entry.path.slice(prefix.length)
      return entry.path.startsWith(prefix) && folders.includes(path) ? [{ ...entry, path }] : []
    })
  }
  return {
    folders,
    words,
    unread,
    tasks: () => tasks,
    async at(commit) {
      if (commit === read) return
      const files = await filesAt(commit)
      const numbers = files.map(({ path }) => ({ number: words.ids.numberOf(words.ids.inPath(path)) }))
      const ids = words.ids.among(numbers)
      // A new task with a suffix may be within a range of ids of any other.
      const unplain = numbers.flatMap(({ number }) => (typeof number === 'string' ? [number] : [])).join()
      if (unplain !== suffixed) known.clear()
      suffixed = unplain
      const changed = files.filter(({ path, hash }) => known.get(path)?.hash !== hash)
      const hashes = changed.map(({ hash }) => hash)
      const texts = await contentsOf(git, hashes)
      for (const { path: file, mode, hash } of changed) {
        const text = texts.get(hash)?.toString() ?? ''
        const task =
          mode === MODES.link
            ? unreadableTask(file, 'it is a link')
            : await parseTask({ file, text }, { ...words, ids })
        known.set(file, { hash, task })
      }
      known = new Map(files.map(({ path }) => [path, known.get(path)!]))
      tasks = inOrder([...known.values()].map(({ task }) => task))
      read = commit
    },
  }
}

type Values = OptionsOf<typeof RUN_OPTIONS>

/** What a run is asked for: the options of `ralph run`; a missing one comes from the configuration. */
export type RunRequest = {
  readonly [Key in Exclude<keyof Values, 'noGates' | 'dryRun' | 'verbose' | 'tui'>]?: Values[Key] | null
} & {
  /** The named task; without one, the next. */
  readonly task?: string | null
}

/** The options of a run; the request has overridden the configuration already. */
export function runOptions(
  request: RunRequest,
  { config, root }: Pick<Place, 'config' | 'root'>,
  canAsk = false,
): RunOptions {
  const { task = null, loop, byHand, branch = null, maxTurns = null, timeoutSeconds = null } = request
  return {
    ...config,
    task,
    loop: loop ?? false,
    byHand: byHand ?? false,
    branch,
    maxTurns,
    timeoutSeconds,
    jobs: jobsOf(request, config),
    gates: request.gates?.map(gateOf) ?? config.gates ?? detectGates(root),
    onFailure: onFailureOf(config, canAsk),
    subject: config.commit.subject,
  }
}

/** With a queue the number of jobs follows the workers, up to this. */
const MOST_GIVEN = 100

function jobsOf({ loop, jobs, byHand, queue }: RunRequest, config: Config): number {
  // A person drives one agent at a time.
  if (!loop || byHand) return 1
  return jobs ?? (queue == null ? config.jobs : MOST_GIVEN)
}

function gateOf(command: string): Gate {
  return { name: command, command, required: true, timeoutSeconds: GATE_TIMEOUT_SECONDS }
}

/** Without a person to ask, a failed task is blocked, and the others are done. */
function onFailureOf({ onFailure }: Config, canAsk: boolean): RunOptions['onFailure'] {
  if (onFailure === 'block' || onFailure === 'stop') return onFailure
  return canAsk ? 'ask' : 'block'
}
