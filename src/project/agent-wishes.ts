import { chooseAgent, namedIn, type AgentWish } from '../agent/choose.ts'
import type { Discipline } from '../prompt/discipline.ts'
import type { Facts, Tier } from '../task/model.ts'
import type { Place } from './project.ts'
import type { World } from './world.ts'

/** What is said of who does a task, the place that decides first: the task, its discipline, its tier, the configuration. */
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

/** The name of who would be asked to do a task; null where nobody is installed. */
export async function previewAgent(
  task: Facts<'agent' | 'discipline'>,
  { config, root, tier }: Place & { readonly tier: Tier },
  env: World['env'],
): Promise<string | null> {
  // Who stands in the task decides, whatever its discipline says.
  const discipline = task.agent === null ? await disciplineOf(root, task) : null
  const wishes = agentWishes(task, discipline, { config, tier })
  return namedIn(wishes) ?? chooseAgent(wishes, { agents: config.agents, env })?.agent.name ?? null
}

/** The discipline that a task names; without a file of that name it does without, as `ralph lint` says. */
export async function disciplineOf(
  root: string,
  { discipline }: Facts<'discipline'>,
): Promise<Discipline | null> {
  if (discipline === null) return null
  // Most tasks name none.
  const { findDiscipline } = await import('../prompt/library.ts')
  const lookup = await findDiscipline(root, discipline)
  return lookup.found ? lookup.value : null
}
