import { AGENT_NAMES } from '../agents/registry.ts'
import type { Config } from '../config/defaults.ts'
import type { KeyPath } from '../config/document.ts'
import { refuseNames } from '../config/load.ts'

/** Refuses a configuration that names an unknown agent anywhere. */
export async function checkConfiguredAgents(root: string, config: Config): Promise<void> {
  const wrong = namesIn(config).filter(({ name }) => name !== null && !AGENT_NAMES.includes(name))
  const paths = wrong.map(({ path }) => path)
  if (paths.length > 0) await refuseNames(root, paths, AGENT_NAMES)
}

/** Every agent that the configuration names, with its key. */
function namesIn(config: Config): readonly { readonly path: KeyPath; readonly name: string | null }[] {
  const { agent, agents, fallback, tiers, plan } = config
  return [
    { path: ['agent'], name: agent },
    ...(agents ?? []).map((name, index) => ({ path: ['agents', index], name })),
    ...fallback.map((name, index) => ({ path: ['fallback', index], name })),
    ...Object.entries(tiers.rows).map(([tier, row]) => ({ path: ['tiers', tier, 'agent'], name: row.agent })),
    { path: ['plan', 'agent'], name: plan.agent },
  ]
}
