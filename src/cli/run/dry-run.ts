import { FOLDER, type AgentRequest, type Invocation } from '../../agent/port.ts'
import { UserError } from '../../base/errors.ts'
import { openGit } from '../../git/door.ts'
import { mergeMcpServers } from '../../prompt/mcp.ts'
import { scriptOf } from '../../attempt/job.ts'
import { taskOrReason } from '../../run/choose-task.ts'
import { keptAttempts } from '../../git/kept-attempts.ts'
import type { RunOptions } from '../../run/ports.ts'
import type { Task } from '../../task/model.ts'
import { dryRunView, type DryRun } from '../../ui/dry-run-view.ts'
import type { Context } from '../command.ts'
import type { Project } from '../../project/project.ts'
import { taskJson } from '../../select/task-json.ts'
import { unlessGitIsMissing } from '../../project/repository.ts'
import { writePrompt } from '../../project/task-prompt.ts'
import { disciplineOf } from '../../project/agent-levels.ts'
import { agentWishes, chooseAgent, permissionOf, providerOf } from '../../project/agents.ts'

/** Shows what a run would do first, and does nothing. */
export async function dryRun(context: Context, project: Project, options: RunOptions): Promise<number> {
  const { selection, tierOf } = project
  const task = taskOrReason(selection, options.task)
  if (typeof task === 'string') throw new UserError(task, '', 1)
  const plan = await planOf(context, project, { task, options })
  if (context.json) {
    const state = { task, eligible: true, waiting: [] }
    context.printJson({ version: 1, ...plan, task: taskJson(state, tierOf) })
  } else {
    await context.print(dryRunView(plan))
    context.printRaw(plan.prompt)
  }
  return 0
}

async function planOf(
  context: Context,
  project: Project,
  { task, options }: { readonly task: Task; readonly options: RunOptions },
): Promise<DryRun> {
  const { io } = context
  const { root, config, tasks, tierOf } = project
  const wishes = agentWishes(context, project)
  const discipline = await disciplineOf(root, task)
  const { agent, model } = chooseAgent(task, discipline, wishes)
  const provider = await providerOf(agent, wishes)
  const git = openGit({ cwd: root, env: io.env })
  const attempts = await unlessGitIsMissing(keptAttempts(git, task.id), [])
  const { prompt } = await writePrompt(project, git, {
    task,
    tasks,
    attempts,
    gates: options.gates,
    failedBefore: new Set(),
  })
  const { tier, maxTurns, timeoutSeconds } = tierOf(task)
  const limits = { turns: options.maxTurns ?? maxTurns, seconds: options.timeoutSeconds ?? timeoutSeconds }
  const request: AgentRequest = {
    prompt: prompt.text,
    cwd: root,
    env: io.env,
    model,
    limits: { ...limits, stallSeconds: options.stallSeconds, budgetUsd: options.budget },
    permission: permissionOf(wishes),
    gateCommands: options.gates.map(({ command }) => command),
    mcpServers: mergeMcpServers(config.mcpServers, discipline?.mcpServers ?? {}),
    task: {
      id: task.id,
      file: task.file,
      attempt: (attempts.at(-1)?.number ?? 0) + 1,
      notesFile: '',
      script: scriptOf(task),
    },
    signal: io.signal,
    log: () => undefined,
  }
  return {
    task,
    tier,
    limits,
    agent: provider.name,
    model,
    gates: options.gates,
    ...commandOf(provider.invocation(request)),
    prompt: prompt.text,
    estimate: prompt.estimate,
  }
}

function commandOf({ program, args, stdin }: Invocation): Pick<DryRun, 'command' | 'promptOnStdin'> {
  const told = args.map((arg) => arg.replaceAll(FOLDER, '<private folder>'))
  return { command: [program, ...told], promptOnStdin: stdin !== '' }
}
