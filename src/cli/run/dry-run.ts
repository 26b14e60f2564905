import { FOLDER, type AgentRequest, type Provider } from '../../agents/port.ts'
import { agentRequest } from '../../engine/run-agent.ts'
import { signalServer } from '../../agents/signals.ts'
import { UserError } from '../../base/errors.ts'
import { openReadingGit } from '../../git/door.ts'
import { listRecords } from '../../git/record.ts'
import type { Agents } from '../../agents/agents.ts'
import { openOrigins } from '../../authoring/origins.ts'
import { shownUrl } from '../../config/queue-url.ts'
import type { Project } from '../../config/project.ts'
import { openRepository, unlessGitIsMissing } from '../../git/open-repository.ts'
import { runOptions, type RunRequest, openAgents } from '../setup/start-run.ts'
import { meantQueue } from '../setup/workers.ts'
import { Readying } from '../../engine/slot/ready.ts'
import { openHome } from '../../engine/slot/home.ts'
import { slotsFolder } from '../setup/slots.ts'
import { notCommitted } from '../../authoring/uncommitted.ts'
import { lackOfGates } from '../setup/need-gates.ts'
import { promptOf } from '../setup/task-prompt.ts'
import { unreadText } from '../../config/unread.ts'
import { taskOrReason } from '../../backlog/select/why-not.ts'
import { Ledger } from '../../engine/ledger.ts'
import type { RunOptions } from '../../engine/ports.ts'
import { NO_WAITS } from '../../engine/task.ts'
import { prepare } from '../../engine/prepare.ts'
import { IDLE, schedule } from '../../backlog/select/schedule.ts'
import { taskJson } from '../../backlog/select/task-json.ts'
import type { Task } from '../../backlog/model.ts'
import { line } from '../../screen/block.ts'
import { dryRunView, type DryRun, type DryWorkspaces } from '../../screen/prompt-view.ts'
import type { Context } from '../command.ts'

/** Shows what a run would do first, and changes nothing. */
export async function dryRun(context: Context, project: Project, request: RunRequest): Promise<number> {
  const { io } = context
  const task = taskOrReason(project.selection, request.task ?? null, new Set(), unreadText(project))
  if (typeof task === 'string') {
    if (request.task != null || project.selection.outcome !== 'all-done') throw new UserError(task, '', 1)
    return context.answer({ task: null }, () => [line(`There is nothing to do: ${task}.`)])
  }
  const options = runOptions(request, project)
  const { agents, sandbox } = await openAgents(io, project, request)
  const isElsewhere = request.queue != null
  const { job, estimate, warnings } = await jobOf(io, project, { task, options, agents })
  const { name: agent, model } = job.agent
  const provider = await agents.provider(agent)
  const start = agentRequest(job, {
    servers: provider.takesMcpServers ? signalServer(io.self, job) : {},
    cwd: project.root,
    env: io.env,
    notesFile: '',
    signal: io.signal,
    log: () => undefined,
  })
  const { turns, seconds } = job.limits
  const plan: DryRun = {
    task,
    tier: project.tierOf(task).tier,
    limits: { turns, seconds },
    agent,
    model,
    gates: options.gates,
    sandbox: sandbox.state,
    ...commandOf(provider, start, options),
    prompt: job.prompt,
    estimate,
    // With a queue the workers decide what runs at once, and where.
    workspaces: isElsewhere ? null : await workspacesOfRun(io, project, options),
    queue: isElsewhere ? shownUrl(meantQueue(request.queue, io, project)) : null,
  }
  const unseen = await notCommitted(io, project, task.file)
  const lack = await lackOfGates(project, { options, isAsked: request.gates != null, tasks: [task], agents })
  const all = [...warnings, ...[unseen, lack].filter((warning) => warning !== null)]
  const json = taskJson({ task, eligible: true, waiting: [] }, project.tierOf)
  return context.answer({ ...plan, task: json, warnings: all }, () => {
    context.printRaw(plan.prompt)
    context.print(dryRunView(plan))
    context.note(all.map((warning) => line(`warning: ${warning}`)))
    return []
  })
}

/** The job of the task's next attempt, by the same call as a run's. */
async function jobOf(
  { env }: Context['io'],
  project: Project,
  { task, options, agents }: { task: Task; options: RunOptions; agents: Agents },
) {
  const { root, config, folders, tasks, tierOf } = project
  const git = openReadingGit({ cwd: root, env })
  const ledger = new Ledger(await unlessGitIsMissing(listRecords(git, task.id), []))
  const [choice] = await agents.choicesFor(task)
  const origins = await openOrigins(config.bridges, root)
  const source = { folders, tasks: () => tasks }
  return prepare(
    {
      task,
      choice,
      base: { head: 'HEAD', branch: null },
      from: { kind: 'base' },
      ...NO_WAITS,
      left: { usd: options.budget, tokens: options.maxTokens },
      token: '',
    },
    {
      options,
      ledger,
      ports: {
        tierOf,
        reviewersFor: (one) => agents.reviewersFor(one),
        prompt: promptOf(project, git),
        source,
        origins: origins.files,
      },
    },
  )
}

/** What would run at once, and where, by the same decision as a run's. */
async function workspacesOfRun(
  { env }: Context['io'],
  project: Project,
  { jobs, overlap, task }: RunOptions,
): Promise<DryWorkspaces> {
  const { root, config, selection } = project
  const { repository, git } = await openRepository({ env }, root)
  const readying = new Readying(await openHome(git, repository, root), config.workspace)
  const eligible = selection.eligible.filter(({ id }) => task === null || id === task)
  const { begin } = schedule({ ...IDLE, eligible, jobs, overlap })
  return {
    folder: slotsFolder(project, repository.root, env),
    jobs,
    begin: begin.map(({ id }) => id),
    prepare: readying.commandsFor(root).join(' && ') || null,
    copy: await readying.filesToCopy(),
    link: readying.linked,
  }
}

/** The command line as the run would start it, for an agent or for a person. */
function commandOf(provider: Provider, request: AgentRequest, { byHand }: RunOptions) {
  const driven = byHand ? provider.interactive?.(request, 'new') : undefined
  const { program, args, stdin } = driven ? { ...driven, stdin: '' } : provider.invocation(request)
  const shown = args.map((arg) => arg.replaceAll(FOLDER, '<private folder>'))
  return { command: [program, ...shown], promptOnStdin: stdin !== '' }
}
