import { realpathSync } from 'node:fs'
import { isAbsolute, relative, resolve, sep } from 'node:path'
import { AGENT_NAMES } from '../agent/registry.ts'
import { truePaths } from '../base/true-path.ts'
import type { LintContext } from '../lint/context.ts'
import { DISCIPLINES, FEATURES, namesIn } from '../prompt/library.ts'
import type { Place } from './project.ts'

/** What stands around the backlog that its rules need to know. */
export async function lintContext({ root, config }: Place): Promise<LintContext> {
  const trueRoot = realpathSync(root)
  const truePath = truePaths()
  return {
    agents: AGENT_NAMES,
    disciplines: await namesIn(root, DISCIPLINES),
    features: await namesIn(root, FEATURES),
    aliases: config.aliases,
    isOutside: (path) => isOutside(trueRoot, truePath(resolve(trueRoot, path))),
  }
}

function isOutside(root: string, path: string): boolean {
  const from = relative(root, path)
  return from === '..' || from.startsWith(`..${sep}`) || isAbsolute(from)
}
