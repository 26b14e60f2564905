import type { AgentRequest } from './port.ts'
import { UserError } from '../base/errors.ts'
import { agentNamed, AGENTS, firstInstalled, type AgentEntry } from './registry.ts'

/** What one place says of who does a task; null where it leaves that to the next. */
export interface AgentWish {
  readonly agent: string | null
  readonly model?: string | null
  /** It stands in a task file or a discipline, which a stranger may have written. */
  readonly isOfBacklog?: boolean
}

/** Who does a task: the agent, and with which model. */
export interface Chosen {
  readonly agent: AgentEntry
  readonly model: string | null
}

/** The name of who does a task, by what all places say, the one that decides first; null takes what is installed. */
export function namedIn(wishes: readonly AgentWish[]): string | null {
  return wishes.find(({ agent }) => agent !== null)?.agent ?? null
}

/** Whether who is named can do the task at all; where nobody is named, whoever is installed can. */
export function isChoosable(wishes: readonly AgentWish[]): boolean {
  const name = namedIn(wishes)
  return name === null || AGENTS.some((agent) => agent.name === name && isAllowed(agent, wishes))
}

/** A backlog never names what is run: an agent that runs task files needs a person who chose it. */
function isAllowed({ name, runsTaskFiles }: AgentEntry, wishes: readonly AgentWish[]): boolean {
  return !runsTaskFiles || wishes.some(({ agent, isOfBacklog }) => agent === name && !isOfBacklog)
}

/** Who does a task; null where nobody is named, and nobody is installed. A name that there is not is a mistake. */
export function chooseAgent(
  wishes: readonly AgentWish[],
  { agents, env }: { readonly agents: readonly string[] | null; readonly env: AgentRequest['env'] },
): Chosen | null {
  const name = namedIn(wishes)
  const agent = name === null ? firstInstalled(agents, env) : agentNamed(name)
  if (agent && !isAllowed(agent, wishes))
    throw new UserError(
      `the agent "${agent.name}" runs what stands in a task file, so no task and no discipline can choose it`,
      `If you trust what it would run, give --agent ${agent.name}, or name it in the configuration.`,
    )
  return agent && { agent, model: modelFor(name, wishes) }
}

/** A model is meant for the agent that stands beside it, or further down: no other one knows it. */
function modelFor(name: string | null, wishes: readonly AgentWish[]): string | null {
  const meant = wishes.find(({ model }, index) => {
    const agent = namedIn(wishes.slice(index))
    return (model ?? null) !== null && (agent === null || agent === name)
  })
  return meant?.model ?? null
}
