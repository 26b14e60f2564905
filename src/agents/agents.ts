import {
  agentNamed,
  agentWishes,
  chooseAgent,
  disciplineOf,
  isChoiceAllowed,
  type AgentEntry,
  type AgentWish,
  type Chosen,
} from './registry.ts'
import { installationOf, isNewEnough } from './installation.ts'
import type { Agent, AgentChoice, Permission, Provider, Reviewer } from './port.ts'
import { isAgentName } from '../base/names.ts'
import { createAgent } from './runtime.ts'
import { UserError } from '../base/errors.ts'
import { findOnPath, findShell, NO_SHELL } from '../process/program.ts'
import type { StartProcess } from '../process/start.ts'
import type { Discipline } from '../prompt/discipline.ts'
import { mergeMcpServers } from '../prompt/mcp.ts'
import type { Task } from '../backlog/model.ts'
import type { Config } from '../config/defaults.ts'
import type { Project } from '../config/project.ts'
import type { World } from '../base/world.ts'

/** What a command line says of agents; what is missing is left to the tasks and the configuration. */
interface AgentOptions {
  readonly agent?: string | null | undefined
  readonly model?: string | null | undefined
  /** The permission `full`. */
  readonly full?: boolean | null
  /** Whether a person drives the agent's interactive program. */
  readonly byHand?: boolean | null
}

/** Where the agents of a run work. */
interface AgentPlace extends Pick<Project, 'root' | 'config' | 'tierOf'> {
  readonly isCaged: boolean
  /** Whether workers do the tasks: then no agent must be installed here. */
  readonly isElsewhere?: boolean
}

type Choices = readonly [AgentChoice, ...AgentChoice[]]

/** The agents of a run: which one does a task, and whether it is installed and can start. */
export class Agents {
  readonly #world: World
  readonly #wish: AgentOptions & AgentWish
  readonly #place: AgentPlace
  /** The installation of each agent, by its name, once looked up. */
  readonly #installations = new Map<string, ReturnType<typeof installationOf>>()

  constructor(world: World, wish: AgentOptions, place: AgentPlace) {
    this.#world = world
    this.#wish = { ...wish, agent: wish.agent ?? null, model: wish.model ?? null }
    this.#place = place
  }

  /** The agents for a task: the first, and those that replace it while it waits; throws if one of them cannot start. */
  async choicesFor(task: Task): Promise<Choices> {
    const discipline = await disciplineOf(this.#place.root, task)
    return this.#withFallback(this.#wishesFor(task, discipline), (chosen) => this.#ready(chosen, discipline))
  }

  /** The names of the agents for a task; empty if there is none. */
  async namesFor(task: Task): Promise<readonly string[]> {
    try {
      return (await this.choicesFor(task)).map(({ name }) => name)
    } catch (error) {
      if (error instanceof UserError) return []
      throw error
    }
  }

  /** The agents for planning, the first and its replacements: all of them only read. */
  async choicesForPlan(web: boolean): Promise<Choices> {
    const { config, isCaged } = this.#place
    return this.#withFallback([this.#wish, config.plan, config], async (chosen) => {
      if (chosen.agent.runsTaskFiles)
        throw new UserError(
          `the agent ${chosen.agent.name} runs what stands in a task, and cannot plan`,
          'Take another with --agent.',
        )
      // An MCP server might do anything.
      return {
        ...(await this.#ready(chosen, null)),
        permission: { level: 'read', web, isCaged },
        mcpServers: {},
      }
    })
  }

  /** The agents that review a task: those of the configuration, of its tier, and of the task itself. */
  async reviewersFor(task: Task): Promise<readonly Reviewer[]> {
    const { isCaged } = this.#place
    return Promise.all(
      this.#reviewsOf(task).map(async ({ agent, model, required }) => ({
        isRequired: required,
        choices: await this.#withFallback([{ agent, model }], async (chosen) => ({
          ...(await this.#ready(chosen, null)),
          permission: { level: 'read', web: false, isCaged } as const,
          mcpServers: {},
        })),
      })),
    )
  }

  /** Each reviewer once. */
  #reviewsOf(task: Task) {
    const { config, tierOf } = this.#place
    const { review: ofTier } = config.tiers.rows[tierOf(task).tier]
    const ofTask = task.review !== null && isAgentName(task.review) ? [task.review] : []
    const named = [...ofTier, ...ofTask].map((agent) => ({ agent, model: null, required: false }))
    const all = [...config.review, ...named]
    return all.filter(({ agent }, at) => all.findIndex((other) => other.agent === agent) === at)
  }

  async #withFallback(
    wishes: readonly AgentWish[],
    ready: (chosen: Chosen) => Promise<AgentChoice>,
  ): Promise<Choices> {
    const first = this.#chosen(wishes)
    const others = this.#fallback.filter(({ name }) => name !== first.agent.name)
    return [await ready(first), ...(await Promise.all(others.map((agent) => ready({ agent, model: null }))))]
  }

  /** Opens the agent of a choice, with what starts its process. */
  async open(
    { name }: AgentChoice,
    starts: Record<'agent' | 'byHand', (provider: Provider) => StartProcess>,
  ): Promise<Agent> {
    const provider = await this.provider(name)
    return createAgent(provider, {
      now: this.#world.now,
      start: starts.agent(provider),
      startByHand: starts.byHand(provider),
      forgets: this.#place.isCaged && (provider.forgetsInCage ?? false),
    })
  }

  /** The provider of an installed agent; throws if anything visible would stop it. */
  async provider(name: string): Promise<Provider> {
    const { env } = this.#world
    const { root, config } = this.#place
    const agent = agentNamed(name)
    const provider = await agent.load(config.command, config.pty)
    if (this.#place.isElsewhere) return provider
    if (agent.program !== null && findOnPath(agent.program, env) === null)
      throw new UserError(`${agent.name} is not installed`, `Get it with: ${provider.install}`)
    // Agents without a program of their own are commands for a shell.
    if (agent.program === null && findShell(env) === null)
      throw new UserError(`the agent ${agent.name} cannot run: ${NO_SHELL}`)
    const [first, ...rest] = await provider.preflight({ env, cwd: root })
    if (first !== undefined) throw new UserError(first, rest.join('\n'))
    return provider
  }

  /**
   * Ensures before a run begins that every agent that it may use is installed and can start, or throws; warns of agents that are
   * older than ralph was tested with, and of those that cannot keep to a budget. An unusable agent that only a
   * task, or its discipline, names fails at that task's turn: the other tasks can be done without it.
   */
  async check(tasks: readonly Task[]): Promise<readonly string[]> {
    if (this.#wish.agent !== null) agentNamed(this.#wish.agent)
    const wanted = new Set<AgentEntry>()
    for (const task of tasks) {
      const wishes = this.#wishesFor(task, await disciplineOf(this.#place.root, task))
      if (isChoiceAllowed(wishes)) wanted.add(this.#chosen(wishes).agent)
    }
    for (const agent of this.#fallback) wanted.add(agent)
    for (const task of tasks) for (const { agent } of this.#reviewsOf(task)) wanted.add(agentNamed(agent))
    // Starts all lookups at once; reports them in order.
    for (const agent of wanted) void this.#installed(agent)
    const warnings: string[] = []
    for (const agent of wanted) warnings.push(...(await this.#warningsOf(agent)))
    return warnings
  }

  async #warningsOf(agent: AgentEntry): Promise<readonly string[]> {
    const provider = await this.#startable(agent)
    const { minimumVersion, install, tellsCost = false, tellsTokens = false } = provider
    if (this.#wish.byHand && !provider.interactive)
      throw new UserError(
        `${agent.name} has no interactive program that you could drive`,
        'Take another with --agent, or leave --interactive out.',
      )
    const version = (await this.#installed(agent))?.version ?? null
    const warnings: string[] = []
    if (isNewEnough(version, minimumVersion) === false) {
      const oldest = `${minimumVersion}, the oldest that ralph was tested with`
      warnings.push(`${agent.name} ${version} is older than ${oldest}. Get it with: ${install}`)
    }
    if (!tellsCost && this.#hasBudget)
      warnings.push(
        `${agent.name} reports no cost, so no budget can stop it; its turn and time limits still apply` +
          (tellsTokens && !this.#limitsTokens ? ', and --max-tokens can limit it' : ''),
      )
    if (!tellsTokens && this.#limitsTokens)
      warnings.push(`${agent.name} reports no tokens, so no limit of tokens can stop it`)
    return warnings
  }

  get #hasBudget(): boolean {
    const { budget, maxCostPerTask } = this.#place.config
    return (budget ?? maxCostPerTask) !== null
  }

  get #limitsTokens(): boolean {
    const { maxTokens, maxTokensPerTask } = this.#place.config
    return (maxTokens ?? maxTokensPerTask) !== null
  }

  get #fallback(): readonly AgentEntry[] {
    return this.#place.config.fallback.map(agentNamed)
  }

  #chosen(wishes: readonly AgentWish[]): Chosen {
    const { agents } = this.#place.config
    const chosen = chooseAgent(wishes, { agents, env: this.#world.env })
    if (chosen) return chosen
    if (this.#place.isElsewhere)
      throw new UserError(
        'no agent is named, and none is installed here',
        'Say which one the workers are to start: --agent claude, or "agent" in the configuration.',
      )
    throw new UserError(
      'no agent is installed',
      'ralph doctor says how to get one; or run your own: --agent command --command ./my-agent.sh',
    )
  }

  /** The command line decides, before the project's files. */
  #wishesFor(task: Task, discipline: Discipline | null): readonly AgentWish[] {
    const { config, tierOf } = this.#place
    return [this.#wish, ...agentWishes(task, discipline, { config, tier: tierOf(task).tier })]
  }

  async #ready({ agent, model }: Chosen, discipline: Discipline | null): Promise<AgentChoice> {
    const { takesMcpServers = false, takesSchema = false } = await this.#startable(agent)
    const { config } = this.#place
    const version = (await this.#installed(agent))?.version
    return {
      name: agent.name,
      label: version ? `${agent.name} ${version}` : agent.name,
      model,
      permission: permissionOf(this.#wish, config, this.#place.isCaged),
      mcpServers: mergeMcpServers(config.mcpServers, discipline?.mcpServers ?? {}),
      hasTools: takesMcpServers,
      takesSchema,
    }
  }

  /** The provider, if its program also starts. */
  async #startable(agent: AgentEntry): Promise<Provider> {
    const provider = await this.provider(agent.name)
    const failure = (await this.#installed(agent))?.failure ?? null
    if (failure === null) return provider
    throw new UserError(`${agent.name} does not start: ${failure}`, `See ${agent.program} --version.`)
  }

  /** The installation of an agent; looked up once, and not if workers have it. */
  #installed({ name, program }: AgentEntry): ReturnType<typeof installationOf> {
    const { env, signal } = this.#world
    const { root: cwd, isElsewhere } = this.#place
    const installation =
      this.#installations.get(name) ?? installationOf(isElsewhere ? null : program, { cwd, env, signal })
    this.#installations.set(name, installation)
    return installation
  }
}

/** The default in a cage is `full`: the cage refuses what the agent would otherwise be denied. */
function permissionOf(
  { full }: AgentOptions,
  { permission, agentArgs }: Config,
  isCaged: boolean,
): Permission {
  if (full) return { level: 'full' }
  if (permission === 'custom') return { level: 'custom', args: agentArgs }
  const level = permission ?? (isCaged ? 'full' : 'edit')
  return level === 'edit' && isCaged ? { level, isCaged } : { level }
}
