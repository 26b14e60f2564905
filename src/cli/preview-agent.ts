import { firstInstalled } from '../agent/registry.ts'
import type { Facts, Tier } from '../task/model.ts'
import { agentFrom, agentLevels, type AgentWish } from './agent-levels.ts'
import type { Io } from './io.ts'
import type { Place } from './project.ts'

/** Who would be asked to do a task: as it says, its discipline, its tier or the config; else the first that is installed. */
export async function previewAgent(
  task: Facts<'agent' | 'discipline'>,
  { config, root, tier }: Place & { readonly tier: Tier },
  env: Io['env'],
): Promise<string | null> {
  const discipline = await disciplineOf(task, root)
  const named = agentFrom(agentLevels({ task, discipline, tier: config.tiers.rows[tier], config }))
  return named ?? firstInstalled(config.agents, env)?.name ?? null
}

async function disciplineOf(task: Facts<'discipline'>, root: string): Promise<AgentWish | null> {
  if (task.discipline === null) return null
  const { findDiscipline } = await import('../prompt/library.ts')
  const lookup = await findDiscipline(root, task.discipline)
  return lookup.found ? lookup.value : null
}
