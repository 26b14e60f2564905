import { AGENT_NAMES, type AgentName } from '../base/names.ts'
import { closest } from '../base/spelling.ts'
import { UserError } from '../base/errors.ts'
import type { World } from '../base/world.ts'
import type { Facts, Tier } from '../backlog/model.ts'
import type { Place } from '../config/project.ts'
import { findOnPath, resolveProgram } from '../process/program.ts'
import type { Discipline } from '../prompt/discipline.ts'
import type { AgentRequest, Provider } from './port.ts'

/** What is known of an agent without loading its provider, which takes longer than all else that `next` does. */
export interface AgentEntry {
  readonly name: string
  /** The program to look up on PATH; null for an agent that needs none. */
  readonly program: string | null
  /** Whether it runs commands of the task file, so that only a person may choose it, by an option or in the configuration. */
  readonly runsTaskFiles?: boolean
  /** Loads its provider; `command` is the command of an agent with that name, `pty` whether it gets a terminal. */
  readonly load: (command: string | null, pty?: boolean) => Promise<Provider>
}

/** Every agent that ralph can run, in the order in which they are looked up. Adding one takes a name and one line. */
export const AGENTS: readonly AgentEntry[] = [
  agent('claude', 'claude', async () => (await import('./providers/claude.ts')).claude),
  agent('codex', 'codex', async () => (await import('./providers/codex.ts')).codex),
  agent('gemini', 'gemini', async () => (await import('./providers/gemini.ts')).gemini),
  agent('opencode', 'opencode', async () => (await import('./providers/opencode.ts')).opencode),
  agent('copilot', 'copilot', async () => (await import('./providers/copilot.ts')).copilot),
  agent('qwen', 'qwen', async () => (await import('./providers/qwen.ts')).qwen),
  agent('continue', 'cn', async () => (await import('./providers/continue.ts')).continueCli),
  agent('command', null, async (line, pty) =>
    (await import('./providers/command.ts')).commandProvider(line, pty),
  ),
  {
    ...agent('script', null, async () => (await import('./providers/command.ts')).script),
    runsTaskFiles: true,
  },
]

/** The agent of that name; throws if it is unknown. */
export function agentNamed(name: string): AgentEntry {
  const found = AGENTS.find((agent) => agent.name === name)
  if (found) return found
  const near = closest(name, AGENT_NAMES)
  const hint = near ? `Did you mean ${near}? ` : ''
  throw new UserError(`there is no agent named "${name}"`, `${hint}The agents are ${AGENT_NAMES.join(', ')}.`)
}

/** The first of these, or of all, whose program is installed; null if none is. Skips agents that need no program. */
export function firstInstalled(names: readonly string[] | null, env: AgentRequest['env']): AgentEntry | null {
  const wanted = names?.flatMap((name) => AGENTS.filter((entry) => entry.name === name)) ?? AGENTS
  return wanted.find(({ program }) => program !== null && isStartable(program, env)) ?? null
}

function agent(name: AgentName, program: string | null, load: AgentEntry['load']): AgentEntry {
  return { name, program, load }
}

/** Whether the program can be started, unlike some batch files: then the next agent is taken. */
function isStartable(program: string, env: AgentRequest['env']): boolean {
  return findOnPath(program, env) !== null && 'program' in resolveProgram(program, [], env)
}

/** Which agent one place (option, task, configuration) names for a task; null leaves it to the next place. */
export interface AgentWish {
  readonly agent: string | null
  readonly model?: string | null
  /** Whether it comes from a task file or a discipline, which a stranger may have written. */
  readonly isOfBacklog?: boolean
}

/** The agent for a task, and its model. */
export interface Chosen {
  readonly agent: AgentEntry
  readonly model: string | null
}

/** The agent that the first of these places with a name names; null means an installed one. */
function firstNamedAgent(wishes: readonly AgentWish[]): string | null {
  return wishes.find(({ agent }) => agent !== null)?.agent ?? null
}

/** Whether the named agent can do the task; without a name, any installed one can. */
export function isChoiceAllowed(wishes: readonly AgentWish[]): boolean {
  const name = firstNamedAgent(wishes)
  return name === null || AGENTS.some((agent) => agent.name === name && isAllowed(agent, wishes))
}

/** A backlog may not choose what runs on the machine: an agent that runs task files must be chosen by a person. */
function isAllowed({ name, runsTaskFiles }: AgentEntry, wishes: readonly AgentWish[]): boolean {
  return !runsTaskFiles || wishes.some(({ agent, isOfBacklog }) => agent === name && !isOfBacklog)
}

/** Chooses the agent for a task; null if none is named and none is installed. An unknown name is an error. */
export function chooseAgent(
  wishes: readonly AgentWish[],
  { agents, env }: { readonly agents: readonly string[] | null; readonly env: AgentRequest['env'] },
): Chosen | null {
  const name = firstNamedAgent(wishes)
  const agent = name === null ? firstInstalled(agents, env) : agentNamed(name)
  if (agent && !isAllowed(agent, wishes))
    throw new UserError(
      `the agent "${agent.name}" runs what stands in a task file, so no task and no discipline can choose it`,
      `If you trust what it would run, give --agent ${agent.name}, or name it in the configuration.`,
    )
  return agent && { agent, model: modelFor(name, wishes) }
}

/** A model belongs to the agent named in the same place or in a later one: no other agent knows it. */
function modelFor(name: string | null, wishes: readonly AgentWish[]): string | null {
  const meant = wishes.find(({ model }, index) => {
    const agent = firstNamedAgent(wishes.slice(index))
    return (model ?? null) !== null && (agent === null || agent === name)
  })
  return meant?.model ?? null
}

/** The choices of an agent for a task, the deciding one first: the task, its discipline, its tier, the configuration. */
export function agentWishes(
  task: AgentWish,
  discipline: Discipline | null,
  { config, tier }: Pick<Place, 'config'> & { readonly tier: Tier },
): readonly AgentWish[] {
  const ofBacklog = [task, ...(discipline ? [discipline] : [])].map(({ agent, model = null }) => ({
    agent,
    model,
    isOfBacklog: true,
  }))
  return [...ofBacklog, config.tiers.rows[tier], config]
}

/** The name of the agent that a run would choose for a task; null if none is installed. */
export async function previewAgent(
  task: Facts<'agent' | 'discipline'>,
  { config, root, tier }: Place & { readonly tier: Tier },
  env: World['env'],
): Promise<string | null> {
  // The task's own agent decides before its discipline.
  const discipline = task.agent === null ? await disciplineOf(root, task) : null
  const wishes = agentWishes(task, discipline, { config, tier })
  return firstNamedAgent(wishes) ?? chooseAgent(wishes, { agents: config.agents, env })?.agent.name ?? null
}

/** The discipline that a task names; null if it has no file, which `ralph lint` reports. */
export async function disciplineOf(
  root: string,
  { discipline }: Facts<'discipline'>,
): Promise<Discipline | null> {
  if (discipline === null) return null
  // Most tasks name none.
  const { findDiscipline } = await import('../prompt/library.ts')
  return (await findDiscipline(root, discipline)).value
}
