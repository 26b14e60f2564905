import { realpathSync } from 'node:fs'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import type { LintContext } from '../lint/context.ts'
import { DISCIPLINES, FEATURES, namesIn } from '../prompt/library.ts'
import type { Place } from './project.ts'

/** What stands around the backlog that its rules need to know. */
export async function lintContext({ root, config }: Place): Promise<LintContext> {
  const trueRoot = realpathSync(root)
  return {
    disciplines: await namesIn(root, DISCIPLINES),
    features: await namesIn(root, FEATURES),
    aliases: config.aliases,
    isOutside: (path) => isOutside(trueRoot, truePath(resolve(trueRoot, path))),
  }
}

/** Where a path leads, links resolved as far as there is something. */
function truePath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    const parent = dirname(path)
    return parent === path ? path : join(truePath(parent), relative(parent, path))
  }
}

function isOutside(root: string, path: string): boolean {
  const from = relative(root, path)
  return from === '..' || from.startsWith(`..${sep}`) || isAbsolute(from)
}
