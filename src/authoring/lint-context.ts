import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { AGENT_NAMES } from '../base/names.ts'
import { pathWithin, truePaths } from '../base/paths.ts'
import type { LintContext } from '../backlog/lint/rule.ts'
import { DISCIPLINES, FEATURES, namesIn } from '../prompt/library.ts'
import { originStatuses } from './origins.ts'
import type { Place } from '../config/project.ts'

/** What the rules need to know besides the backlog. */
export async function lintContext({ root, config, vocabulary }: Place): Promise<LintContext> {
  const trueRoot = realpathSync(root)
  const origins = await originStatuses(config.bridges, root)
  const truePath = truePaths()
  return {
    agents: AGENT_NAMES,
    disciplines: namesIn(root, DISCIPLINES),
    features: namesIn(root, FEATURES),
    aliases: config.aliases,
    ids: vocabulary.ids,
    ...(origins ? { origins } : {}),
    isOutside: (path) => pathWithin(trueRoot, truePath(resolve(trueRoot, path))) === null,
  }
}
