import { platform } from 'node:os'
import { UserError } from './errors.ts'
import { INSIDE_VARIABLE } from './names.ts'
import { pathWithin, truePaths } from './paths.ts'

/** What the project's code may use of the outside world; a command passes its own. */
export interface World {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** The command that starts this program again: its path, and the arguments before the subcommand. */
  readonly self: readonly [string, ...string[]]
  /** The pid of this process, which its locks contain. */
  readonly pid: number
  readonly now: () => Date
  /** Aborts at the first interrupt. */
  readonly signal: AbortSignal
  /** Aborts at the second interrupt: everything must end at once. */
  readonly urgent: AbortSignal
}

/** Throws inside an attempt of a run, which must not start or change a run. */
export function refuseInside({ env }: Pick<World, 'env'>, root: string): void {
  const workspace = env[INSIDE_VARIABLE]
  const truePath = truePaths()
  if (workspace === undefined || pathWithin(truePath(workspace), truePath(root)) === null) return
  throw new UserError(
    'this command is not allowed inside a running attempt',
    'An agent ends its attempt by its final message; see docs/prompts.md.',
  )
}

/** Throws where no agent and no gate may be started: inside an attempt, and on Windows. */
export function refuseToStart(world: Pick<World, 'env'>, root: string, system: string = platform()): void {
  refuseInside(world, root)
  if (system !== 'win32') return
  throw new UserError(
    'ralph starts no agents and no gates on Windows itself',
    'Use WSL. Commands that only read, such as ralph next, list and lint, work here too.',
  )
}
