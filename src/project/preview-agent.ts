import { firstInstalled } from '../agent/registry.ts'
import type { Facts, Tier } from '../task/model.ts'
import { agentFrom, agentLevels, disciplineOf, type AgentWish } from './agent-levels.ts'
import type { Io } from '../cli/io.ts'
import type { Place } from './project.ts'

/** Who would be asked to do a task: as it says, its discipline, its tier or the config; else the first that is installed. */
export async function previewAgent(
  task: Facts<'agent' | 'discipline'>,
  { config, root, tier }: Place & { readonly tier: Tier },
  env: Io['env'],
): Promise<string | null> {
  // Who stands in the task decides, whatever its discipline says.
  const discipline = task.agent === null ? await disciplineOf(root, task) : null
  const named = agentFrom(agentLevels<AgentWish>({ task, discipline, tier: config.tiers.rows[tier], config }))
  return named ?? firstInstalled(config.agents, env)?.name ?? null
}
