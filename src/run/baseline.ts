import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeFileAtomic } from '../base/atomic-file.ts'
import { withMark } from '../process/mark.ts'
import { gatesPassed } from '../events/gate.ts'
import type { Gate, GateResult } from '../events/gate.ts'
import type { Base } from '../git/restore.ts'
import type { StatusEntry } from '../git/status.ts'
import type { Happening } from '../events/event.ts'
import { setAside } from '../workspace/litter.ts'
import { runLoggedGate } from '../attempt/logged-gate.ts'
import type { Run } from './run.ts'

/** Runs the gates on the untouched tree, so that what failed before is nobody's fault later. False ends the run. */
export async function* runBaseline(run: Run, base: Base): AsyncGenerator<Happening, boolean> {
  const { options, ports } = run
  if (options.baseline === 'off' || options.gates.length === 0) return true
  const file = join(ports.folder.results, `baseline-${keyOf(base, options.gates)}.json`)
  const known = readBaseline(file)
  if (!known) yield { type: 'baseline-started', gates: options.gates }
  const results = known?.results ?? (await runAll(run))
  if (ports.signal.aborted) return true
  // Whatever is there now was made by the gates: the tree was clean before.
  const left = known?.left ?? (await ports.workspace.look()).entries
  if (!known) {
    const untracked = left.filter(({ kind }) => kind === 'untracked')
    writeFileAtomic(file, JSON.stringify({ results, left: untracked } satisfies Baseline) + '\n')
  }
  if (left.length > 0) yield setAside(run, left, 'the gates leave what git does not ignore')
  run.failedBefore = results.filter((result) => result.verdict !== 'passed')
  yield { type: 'baseline-finished', results, known: known !== null }
  return gatesPassed(results) || options.baseline !== 'stop'
}

async function runAll(run: Run): Promise<readonly GateResult[]> {
  const { options, ports, flight } = run
  const env = withMark(ports.env, flight.mark)
  const results: GateResult[] = []
  for (const gate of options.gates) {
    if (ports.signal.aborted) break
    results.push(await runLoggedGate(run, gate, { env, logName: 'baseline' }))
  }
  return results
}

function keyOf(base: Base, gates: readonly Gate[]): string {
  return createHash('sha256')
    .update(JSON.stringify([base.head, gates]))
    .digest('hex')
    .slice(0, 16)
}

/** What is remembered of the gates on a commit. */
interface Baseline {
  readonly results: readonly GateResult[]
  /** The untracked files that they made: they may make them again. */
  readonly left: readonly StatusEntry[]
}

function readBaseline(file: string): Baseline | null {
  try {
    const read: unknown = JSON.parse(readFileSync(file, 'utf8'))
    return isBaseline(read) ? read : null
  } catch {
    return null
  }
}

function isBaseline(value: unknown): value is Baseline {
  if (typeof value !== 'object' || value === null || !('results' in value) || !('left' in value)) return false
  const { results, left } = value
  return Array.isArray(results) && results.every(isResult) && Array.isArray(left)
}

function isResult(value: unknown): value is GateResult {
  return (
    typeof value === 'object' &&
    value !== null &&
    'verdict' in value &&
    'gate' in value &&
    'fingerprint' in value
  )
}
