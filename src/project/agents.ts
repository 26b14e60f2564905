import { findOnPath } from '../agent/find-program.ts'
import { installationOf, isNewEnough, type Installation } from '../agent/installation.ts'
import type { Permission, Provider } from '../agent/port.ts'
import { AGENT_NAMES, agentNamed, firstInstalled, type AgentEntry } from '../agent/registry.ts'
import { createAgent } from '../agent/runtime.ts'
import { UserError } from '../base/errors.ts'
import type { Config } from './config/defaults.ts'
import type { Discipline } from '../prompt/discipline.ts'
import { mergeMcpServers } from '../prompt/mcp.ts'
import type { AgentChoice } from '../run/ports.ts'
import type { Task } from '../task/model.ts'
import { agentFrom, agentLevels, disciplineOf, type AgentWish } from './agent-levels.ts'
import type { Context } from '../cli/command.ts'
import type { Io } from '../cli/io.ts'
import type { Options } from '../cli/options.ts'
import type { Project } from './project.ts'

/** Where the agents of a run are chosen from. */
export interface AgentWishes {
  readonly io: Io
  readonly options: Options
  readonly root: string
  readonly config: Config
  readonly tierOf: Project['tierOf']
  /** What is installed of each agent, by its name, once that was asked. */
  readonly installations: Map<string, Promise<Installation | null>>
}

/** What a command of this project wishes of its agents. */
export function agentWishes({ io, options }: Context, { root, config, tierOf }: Project): AgentWishes {
  return { io, options, root, config, tierOf, installations: new Map() }
}

/** Who does a task: the agent, and with which model. */
export interface Chosen {
  readonly agent: AgentEntry
  readonly model: string | null
}

/** Who does a task, and who goes on while that one waits. */
export function agentsFor(
  wishes: AgentWishes,
): (task: Task) => Promise<readonly [AgentChoice, ...AgentChoice[]]> {
  return async (task) => {
    const { config, root, io } = wishes
    const discipline = await disciplineOf(root, task)
    const mcpServers = mergeMcpServers(config.mcpServers, discipline?.mcpServers ?? {})
    const engage = async ({ agent, model }: Chosen): Promise<AgentChoice> => ({
      agent: createAgent(await readyProvider(agent, wishes), { now: io.now }),
      label: await labelOf(agent, wishes),
      model,
      permission: permissionOf(wishes),
      mcpServers,
    })
    const first = chooseAgent(task, discipline, wishes)
    const others = fallbackOf(wishes).filter(({ name }) => name !== first.agent.name)
    return [
      await engage(first),
      ...(await Promise.all(others.map((agent) => engage({ agent, model: null })))),
    ]
  }
}

/**
 * Makes sure before a run begins that whoever may be asked is there and can begin, or throws; tells of those that are
 * older than what ralph was tried with, and of those that no budget can hold. A name that is unknown and stands in a
 * task, or in its discipline, is left to the task's turn: the others can be done without it.
 */
export async function checkAgents(wishes: AgentWishes, tasks: readonly Task[]): Promise<readonly string[]> {
  const typed = wishes.options.text('agent')
  if (typed !== undefined) agentNamed(typed)
  const wanted = new Set<AgentEntry>()
  for (const task of tasks) {
    const discipline = await disciplineOf(wishes.root, task)
    const name = agentFrom(levelsOf(task, discipline, wishes))
    if (name === null || AGENT_NAMES.includes(name)) wanted.add(chooseAgent(task, discipline, wishes).agent)
  }
  for (const agent of fallbackOf(wishes)) wanted.add(agent)
  // Each is asked at once, and told of in its turn.
  for (const agent of wanted) void lookAt(agent, wishes)
  const warnings: string[] = []
  for (const agent of wanted) warnings.push(...(await warningsOf(agent, wishes)))
  return warnings
}

async function warningsOf(agent: AgentEntry, wishes: AgentWishes): Promise<readonly string[]> {
  const { minimumVersion, install, tellsCost = false } = await readyProvider(agent, wishes)
  const version = (await lookAt(agent, wishes))?.version ?? null
  const warnings: string[] = []
  if (isNewEnough(version, minimumVersion) === false) {
    const oldest = `${minimumVersion}, the oldest that ralph was tried with`
    warnings.push(`${agent.name} ${version} is older than ${oldest}. Get it with: ${install}`)
  }
  if (!tellsCost && hasBudget(wishes))
    warnings.push(`${agent.name} does not tell what it costs, so no budget ends it: its turns and time do`)
  return warnings
}

function hasBudget({ options, config }: AgentWishes): boolean {
  return (options.number('budget') ?? config.budget ?? config.maxCostPerTask) !== null
}

/**
 * Who does a task, as it would be asked first: the command line decides, else the task, its discipline, its tier, the
 * configuration, and at last what is installed.
 */
export function chooseAgent(task: Task, discipline: Discipline | null, wishes: AgentWishes): Chosen {
  const { config, io } = wishes
  const levels = levelsOf(task, discipline, wishes)
  const name = agentFrom(levels)
  const agent = name === null ? firstInstalled(config.agents, io.env) : agentNamed(name)
  if (agent) return { agent, model: modelFor(name, levels) }
  throw new UserError(
    'no agent is installed',
    'ralph doctor says how to get one; or run your own: --agent command --command ./my-agent.sh',
  )
}

interface Level extends AgentWish {
  readonly model: string | null
}

function levelsOf(task: Task, discipline: Discipline | null, wishes: AgentWishes): readonly Level[] {
  const { options, config, tierOf } = wishes
  const typed = { agent: options.text('agent') ?? null, model: options.text('model') ?? null }
  const tier = config.tiers.rows[tierOf(task).tier]
  return [typed, ...agentLevels<Level>({ task, discipline, tier, config })]
}

/** A model is meant for the agent that stands beside it, or further down: no other one knows it. */
function modelFor(name: string | null, levels: readonly Level[]): string | null {
  const meant = levels.find((level, index) => {
    const agent = agentFrom(levels.slice(index))
    return level.model !== null && (agent === null || agent === name)
  })
  return meant?.model ?? null
}

function fallbackOf({ config }: AgentWishes): readonly AgentEntry[] {
  return config.fallback.map(agentNamed)
}

export function permissionOf({ options, config }: AgentWishes): Permission {
  if (options.on('yolo')) return { level: 'full' }
  return config.permission === 'custom'
    ? { level: 'custom', args: config.agentArgs }
    : { level: config.permission }
}

/** The provider of an agent whose program is there, if nothing else that can be seen stands in its way. */
export async function providerOf(
  agent: AgentEntry,
  { io, root, options, config }: AgentWishes,
): Promise<Provider> {
  const provider = await agent.load(options.text('command') ?? config.command)
  if (agent.program !== null && findOnPath(agent.program, io.env) === null)
    throw new UserError(`${agent.name} is not installed`, `Get it with: ${provider.install}`)
  const [first, ...rest] = await provider.preflight({ env: io.env, cwd: root })
  if (first !== undefined) throw new UserError(first, rest.join('\n'))
  return provider
}

/** The same, if its program starts too. */
async function readyProvider(agent: AgentEntry, wishes: AgentWishes): Promise<Provider> {
  const provider = await providerOf(agent, wishes)
  const failure = (await lookAt(agent, wishes))?.failure ?? null
  if (failure === null) return provider
  throw new UserError(`${agent.name} does not start: ${failure}`, `See ${agent.program} --version.`)
}

/** What is installed of an agent, which is asked only once. */
function lookAt(
  { name, program }: AgentEntry,
  { io, root, installations }: AgentWishes,
): Promise<Installation | null> {
  const asked =
    installations.get(name) ?? installationOf(program, { cwd: root, env: io.env, signal: io.signal })
  installations.set(name, asked)
  return asked
}

async function labelOf(agent: AgentEntry, wishes: AgentWishes): Promise<string> {
  const installation = await lookAt(agent, wishes)
  return installation?.version ? `${agent.name} ${installation.version}` : agent.name
}
