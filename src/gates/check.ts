import { fewOf } from '../base/text.ts'
import type { Gate, GateResult } from '../events/gate.ts'

/** The state of a workspace after the gates have run. */
export interface TreeAfter {
  readonly tree: string
  /** The paths that differ from the tree before. */
  readonly changed: readonly string[]
  /** Why the task cannot be done with it; null if it can. */
  readonly objection: string | null
}

/** What a check uses. */
interface CheckPorts {
  /** Runs one gate, and emits its result. */
  readonly run: (gate: Gate) => Promise<GateResult>
  /** Inspects what the gates have left; files that they created are left out as gate output. */
  readonly inspect: () => Promise<TreeAfter>
  /** Reports that gates changed files, and run again. */
  readonly onAgain: (paths: readonly string[]) => void
  readonly signal: AbortSignal
}

/** The result of the gates on a tree. */
export interface TreeCheck {
  readonly results: readonly GateResult[]
  /** The tree that they passed on: equal before and after them. */
  readonly tree: string
  /** What else is wrong with it, besides a failed gate; null if nothing is. */
  readonly problem: string | null
}

/**
 * Runs the gates until the tree after them equals the tree before them. If a gate changes a file, as a formatter does, all
 * run once more on the result; if they change it again, the check fails, because each time checks something else.
 */
export async function checkTree(
  gates: readonly Gate[],
  before: string,
  ports: CheckPorts,
): Promise<TreeCheck> {
  const first = await runAll(gates, ports)
  if (gates.length === 0 || ports.signal.aborted) return { results: first, tree: before, problem: null }
  const after = await ports.inspect()
  if (after.tree === before || after.objection !== null || hasFailed(first))
    return { results: first, tree: after.tree, problem: after.objection }
  ports.onAgain(after.changed)
  const second = await runAll(gates, ports)
  if (ports.signal.aborted) return { results: second, tree: after.tree, problem: null }
  const again = await ports.inspect()
  const isStill = again.tree === after.tree
  const problem = isStill ? null : `the gates change what they check: ${fewOf(again.changed)}`
  return { results: second, tree: again.tree, problem: again.objection ?? problem }
}

/** Runs every gate, so that the report shows all that is wrong at once. */
async function runAll(gates: readonly Gate[], { run, signal }: CheckPorts): Promise<readonly GateResult[]> {
  const results: GateResult[] = []
  for (const gate of gates) {
    if (signal.aborted) break
    results.push(await run(gate))
  }
  return results
}

function hasFailed(results: readonly GateResult[]): boolean {
  return results.some(({ gate, verdict }) => gate.required && verdict !== 'passed')
}
