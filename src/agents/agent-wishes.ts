import { chooseAgent, firstNamedAgent, type AgentWish } from './registry.ts'
import type { Discipline } from '../prompt/discipline.ts'
import type { Facts, Tier } from '../backlog/model.ts'
import type { Place } from '../config/project.ts'
import type { World } from '../base/world.ts'

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
