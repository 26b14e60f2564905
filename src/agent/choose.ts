import type { AgentRequest } from './port.ts'
import { agentNamed, firstInstalled, type AgentEntry } from './registry.ts'

/** What one place says of who does a task; null where it leaves that to the next. */
export interface AgentWish {
  readonly agent: string | null
  readonly model?: string | null
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

/** Who does a task; null where nobody is named, and nobody is installed. A name that there is not is a mistake. */
export function chooseAgent(
  wishes: readonly AgentWish[],
  { agents, env }: { readonly agents: readonly string[] | null; readonly env: AgentRequest['env'] },
): Chosen | null {
  const name = namedIn(wishes)
  const agent = name === null ? firstInstalled(agents, env) : agentNamed(name)
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
