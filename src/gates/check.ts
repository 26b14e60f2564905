import { fewOf } from '../base/text.ts'
import type { Gate, GateResult } from '../events/gate.ts'

/** What is in a workspace after the gates have run. */
export interface TreeAfter {
  readonly tree: string
  /** The paths in which it differs from the tree before. */
  readonly changed: readonly string[]
  /** Why it cannot be what the task is done by; null where it may. */
  readonly objection: string | null
}

/** What a check needs. */
interface CheckPorts {
  /** Runs one gate, and reports it. */
  readonly run: (gate: Gate) => Promise<GateResult>
  /** Looks at what the gates have left: what they newly made and nobody announced is set aside. */
  readonly look: () => Promise<TreeAfter>
  /** Reports that gates changed files, and run again on them. */
  readonly onAgain: (paths: readonly string[]) => void
  readonly signal: AbortSignal
}

/** What the gates say of a tree. */
export interface TreeCheck {
  readonly results: readonly GateResult[]
  /** The tree that they passed on: the same before and after them. */
  readonly tree: string
  /** What is wrong with it besides a gate that failed; null where nothing is. */
  readonly problem: string | null
}

/**
 * Runs the gates until the tree after them is the tree before them. One that changes a file, as a formatter does, has all
 * of them run once more on what it made; where they change it again they check something else each time.
 */
export async function checkTree(
  gates: readonly Gate[],
  before: string,
  ports: CheckPorts,
): Promise<TreeCheck> {
  const first = await runAll(gates, ports)
  if (gates.length === 0 || ports.signal.aborted) return { results: first, tree: before, problem: null }
  const after = await ports.look()
  if (after.tree === before || after.objection !== null || hasFailed(first))
    return { results: first, tree: after.tree, problem: after.objection }
  ports.onAgain(after.changed)
  const second = await runAll(gates, ports)
  if (ports.signal.aborted) return { results: second, tree: after.tree, problem: null }
  const again = await ports.look()
  const isStill = again.tree === after.tree
  const problem = isStill ? null : `the gates change what they check: ${fewOf(again.changed)}`
  return { results: second, tree: again.tree, problem: again.objection ?? problem }
}

/** Runs every gate, so that whoever reads it hears of all that is wrong at once. */
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
