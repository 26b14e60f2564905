import type { AgentRequest } from './port.ts'
import { UserError } from '../base/errors.ts'
import { agentNamed, AGENTS, firstInstalled, type AgentEntry } from './registry.ts'

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
export function firstNamedAgent(wishes: readonly AgentWish[]): string | null {
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
