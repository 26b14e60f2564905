import { UserError } from '../base/errors.ts'
import { INSIDE_VARIABLE } from '../base/inside.ts'
import { pathWithin } from '../base/path-within.ts'
import { truePaths } from '../base/true-path.ts'
import type { World } from './world.ts'

/** Refuses to start, or to change, a run from inside one of its own attempts. */
export function refuseInside({ env }: Pick<World, 'env'>, root: string): void {
  const workspace = env[INSIDE_VARIABLE]
  const truePath = truePaths()
  if (workspace === undefined || pathWithin(truePath(workspace), truePath(root)) === null) return
  throw new UserError(
    'this is inside an attempt: only the run that it belongs to does this here',
    'An agent ends its attempt by its final message; see docs/agents.md.',
  )
}
