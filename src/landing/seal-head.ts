import type { SealReport } from '../git/seal/sealer.ts'
import type { Happening } from '../events/event.ts'
import type { RunPorts } from '../run/ports.ts'
import { relay } from './relay.ts'

/** What HEAD is at after sealing. */
export interface SealedHead extends SealReport {
  /** Whether the search for the seal was interrupted: the next run finishes it. */
  readonly pending: boolean
}

/** Seals a task's commit that HEAD is at, if its message asks for it, and tells how far the search is. */
export async function* sealHead(
  { sealer, signal }: RunPorts,
  head: { readonly id: string; readonly commit: string; readonly branch: string | null },
): AsyncGenerator<Happening, SealedHead> {
  const { id, commit, branch } = head
  if (!sealer) return { commit, problem: null, pending: false }
  const report = yield* relay((tell: (happening: Happening) => void) =>
    sealer.seal({
      commit,
      branch,
      onProgress: (seconds, expectedSeconds) => tell({ type: 'sealing', id, seconds, expectedSeconds }),
    }),
  )
  return { ...report, pending: report.problem !== null && signal.aborted }
}
