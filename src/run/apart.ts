import { UserError } from '../base/errors.ts'
import type { Emit } from '../attempt/ports.ts'
import { counted } from '../base/text.ts'
import type { Happening } from '../events/event.ts'
import type { Base } from '../git/head.ts'
import type { Move } from '../workspace/follow.ts'
import type { Trunk } from '../workspace/trunk.ts'
import type { RunOptions, RunPorts } from './ports.ts'
import { commitTaskFiles, refuseImpossible } from './preflight.ts'

/** The start of jobs that work in workspaces of ralph's own. */
export interface ApartStart {
  readonly start: Base
  /** The run's ports: its tasks are those on the branch, whatever is in the checkout. */
  readonly ports: RunPorts
  readonly trunk: Trunk
  readonly warnings: readonly string[]
}

/** Ensures that jobs can work apart from the checkout, or throws with what to do; the person's files are not touched. */
export async function beginApart(
  options: RunOptions & { readonly apart: NonNullable<RunOptions['apart']> },
  ports: RunPorts,
  {
    id,
    note,
    emit,
  }: {
    readonly id: string
    readonly note: (move: Move | null) => void
    readonly emit: Emit<Happening>
  },
): Promise<ApartStart> {
  await refuseImpossible(options, ports)
  const { workspaces } = ports
  const status = await ports.workspace.inspect.status()
  const committed = await commitTaskFiles(options, ports, status)
  const named = options.apart.branch
  const branch = named ?? status.branch
  if (branch === null)
    throw new UserError(
      'HEAD is detached, so there is no branch to land on',
      'Switch to one (git switch main), or name one: --branch work',
    )
  const problem = named === null ? null : await workspaces.prepareBranch(named)
  if (problem !== null) throw new UserError(problem)
  await workspaces.refuseUnlendable()
  await ports.elsewhere?.begin({ id, branch, emit })
  const trunk = workspaces.trunk({ branch, note })
  const start = await trunk.tip()
  const landing = workspaces.own(0)
  await landing.bring(start)
  const source = await workspaces.sourceIn(landing)
  const left = committed ? 0 : status.entries.length
  const warnings =
    left === 0
      ? []
      : [`${counted(left, 'file')} of yours not committed: no job sees it, and it stays as it is`]
  return { start, trunk, ports: { ...ports, source }, warnings }
}
