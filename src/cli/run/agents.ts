import { findOnPath, firstInstalled, installationOf } from '../../agent/detect.ts'
import type { Permission, Provider } from '../../agent/port.ts'
import { allProviders, providerNamed } from '../../agent/registry.ts'
import { createAgent } from '../../agent/runtime.ts'
import { UserError } from '../../base/errors.ts'
import type { Config } from '../../config/defaults.ts'
import { findDiscipline } from '../../prompt/library.ts'
import type { Discipline } from '../../prompt/discipline.ts'
import { mergeMcpServers } from '../../prompt/mcp.ts'
import type { AgentChoice } from '../../run/ports.ts'
import type { Task } from '../../task/model.ts'
import type { Context } from '../command.ts'
import type { Io } from '../io.ts'
import type { Options } from '../options.ts'
import type { Project } from '../project.ts'

/** Where the agents of a run are chosen from. */
export interface AgentWishes {
  readonly io: Io
  readonly options: Options
  readonly root: string
  readonly config: Config
  readonly tierOf: Project['tierOf']
}

/** What a command of this project wishes of its agents. */
export function agentWishes({ io, options }: Context, { root, config, tierOf }: Project): AgentWishes {
  return { io, options, root, config, tierOf }
}

/** Who does a task: the provider, with its model. */
export interface ChosenProvider {
  readonly provider: Provider
  readonly model: string | null
}

/**
 * Who does a task, and who goes on while that one waits: the command line decides, else the task, its discipline, its
 * tier, the configuration, and at last what is installed.
 */
export function agentsFor(
  wishes: AgentWishes,
): (task: Task) => Promise<readonly [AgentChoice, ...AgentChoice[]]> {
  const labels = new Map<string, Promise<string>>()
  return async (task) => {
    const { config, root } = wishes
    const discipline = await disciplineOf(root, task)
    const mcpServers = mergeMcpServers(config.mcpServers, discipline?.mcpServers ?? {})
    const choose = async ({ provider, model }: ChosenProvider): Promise<AgentChoice> => {
      const label = labels.get(provider.name) ?? labelOf(provider, wishes)
      labels.set(provider.name, label)
      return {
        agent: createAgent(provider, { now: wishes.io.now }),
        label: await label,
        model,
        permission: permissionOf(wishes),
        mcpServers,
      }
    }
    const first = chooseProvider(task, discipline, wishes)
    const others = config.fallback.filter((name) => name !== first.provider.name)
    const providers = providersOf(wishes)
    const fallback = others.map((name) => ({
      provider: readyProvider(providerNamed(name, providers), wishes),
      model: null,
    }))
    return [await choose(first), ...(await Promise.all(fallback.map(choose)))]
  }
}

/**
 * Makes sure before a run begins that whoever may be asked is there and can begin, or throws. A name that is unknown
 * and stands in a task, or in its discipline, is left to the task's turn: the others can be done without it.
 */
export async function checkAgents(wishes: AgentWishes, tasks: readonly Task[]): Promise<void> {
  const providers = providersOf(wishes)
  const names = new Set(providers.map(({ name }) => name))
  for (const name of configuredNames(wishes)) providerNamed(name, providers)
  const ready = new Set<string | null>()
  for (const task of tasks) {
    const discipline = await disciplineOf(wishes.root, task)
    const name = agentFrom(levelsOf(task, discipline, wishes))
    if (ready.has(name) || (name !== null && !names.has(name))) continue
    chooseProvider(task, discipline, wishes)
    ready.add(name)
  }
}

/** Who does a task, as it would be asked first. */
export function chooseProvider(
  task: Task,
  discipline: Discipline | null,
  wishes: AgentWishes,
): ChosenProvider {
  const { config, io } = wishes
  const levels = levelsOf(task, discipline, wishes)
  const name = agentFrom(levels)
  const model = modelFor(name, levels)
  const providers = providersOf(wishes)
  if (name !== null) return { provider: readyProvider(providerNamed(name, providers), wishes), model }
  const wanted = config.agents.map((agent) => providerNamed(agent, providers))
  const provider = firstInstalled(wanted, io.env)
  if (provider) return { provider: readyProvider(provider, wishes), model }
  throw new UserError(
    'no agent is installed',
    `Install one (${wanted[0]?.install}), or run your own: --agent command --command ./my-agent.sh`,
  )
}

/** What one place says of who does a task. */
interface Level {
  readonly agent: string | null
  readonly model: string | null
}

/** The places in which it is said, the one that decides first. */
function levelsOf(task: Task, discipline: Discipline | null, wishes: AgentWishes): readonly Level[] {
  const { options, config, tierOf } = wishes
  const typed = { agent: options.text('agent') ?? null, model: options.text('model') ?? null }
  const row = config.tiers.rows[tierOf(task).tier]
  return [typed, task, ...(discipline ? [discipline] : []), row, config]
}

/** Null takes the first that is installed. */
function agentFrom(levels: readonly Level[]): string | null {
  return levels.find(({ agent }) => agent !== null)?.agent ?? null
}

/** A model is meant for the agent that stands beside it, or further down: no other one knows it. */
function modelFor(name: string | null, levels: readonly Level[]): string | null {
  const meant = levels.find((level, index) => {
    const agent = agentFrom(levels.slice(index))
    return level.model !== null && (agent === null || agent === name)
  })
  return meant?.model ?? null
}

function configuredNames({ options, config }: AgentWishes): readonly string[] {
  const { agent, agents, fallback, tiers } = config
  const single = [options.text('agent'), agent, ...Object.values(tiers.rows).map((row) => row.agent)]
  return [...single, ...agents, ...fallback].filter((name) => name != null)
}

export function permissionOf({ options, config }: AgentWishes): Permission {
  if (options.on('yolo')) return { level: 'full' }
  return config.permission === 'custom'
    ? { level: 'custom', args: config.agentArgs }
    : { level: config.permission }
}

/** The discipline that a task names; without a file of that name it does without, as `ralph lint` says. */
export async function disciplineOf(root: string, task: Task): Promise<Discipline | null> {
  if (task.discipline === null) return null
  const lookup = await findDiscipline(root, task.discipline)
  return lookup.found ? lookup.value : null
}

function providersOf({ options, config }: AgentWishes): readonly Provider[] {
  return allProviders(options.text('command') ?? config.command)
}

/** The provider, if nothing stands in its way: its program is there, and so is what it needs to begin. */
function readyProvider(provider: Provider, { io, root }: AgentWishes): Provider {
  if (provider.binary !== null && findOnPath(provider.binary, io.env) === null) {
    throw new UserError(`${provider.name} is not installed`, `Get it with: ${provider.install}`)
  }
  const problems = provider.preflight({ env: io.env, cwd: root, nodeVersion: io.nodeVersion })
  const [first, ...rest] = problems
  if (first !== undefined) throw new UserError(first, rest.join('\n'))
  return provider
}

async function labelOf(provider: Provider, { io, root }: AgentWishes): Promise<string> {
  const installation = await installationOf(provider, { cwd: root, env: io.env })
  return installation?.version ? `${provider.name} ${installation.version}` : provider.name
}
