import { UserError } from '../base/errors.ts'
import { INSIDE_VARIABLE } from '../base/names.ts'
import { QUEUE_VARIABLE } from '../worker/url.ts'
import { pathWithin, truePaths } from '../base/paths.ts'

/** What the wiring may know of the world outside: a command hands over its own. */
export interface World {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** How this program is started again: its path, and the arguments before the command. */
  readonly self: readonly [string, ...string[]]
  /** This process, which a lock is in the name of. */
  readonly pid: number
  readonly now: () => Date
  /** Aborts at the first interrupt. */
  readonly signal: AbortSignal
  /** Aborts at the second interrupt: end at once. */
  readonly urgent: AbortSignal
}

/** The same without the password of the queue: no agent and no gate needs it. */
export function withoutQueue(world: World): World {
  const env = { ...world.env, [QUEUE_VARIABLE]: undefined }
  return Object.create(world, { env: { value: env } })
}

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
