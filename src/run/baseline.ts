import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runLogged } from '../attempt/check.ts'
import { writeFileAtomic } from '../base/atomic-file.ts'
import { gatesPassed, type Gate, type GateResult } from '../events/gate.ts'
import type { Base } from '../git/head.ts'
import type { StatusEntry } from '../git/status.ts'
import { setAside } from './give-up.ts'
import { attemptPorts, type Run } from './task.ts'

/** Runs the gates on the untouched tree, so that what failed before is nobody's fault later; a reason ends the run. */
export async function runBaseline(run: Run, base: Base): Promise<string | null> {
  const { options, ports, ledger, emit } = run
  if (options.baseline === 'off' || options.gates.length === 0) return null
  const file = join(
    ports.folder.results,
    `baseline-${keyOf(base, options.gates, run.together !== null)}.json`,
  )
  const known = readBaseline(file)
  if (!known) emit({ type: 'baseline-started', gates: options.gates })
  const results = known?.results ?? (await runAll(run))
  if (ports.control.signal.aborted) return null
  // Whatever is there now was made by the gates: the tree was clean before.
  const left = known?.left ?? (await ports.workspace.inspect.status()).entries
  const idle = cannotRun(results)
  // What is installed meanwhile is in no commit, so a gate that could not run says nothing about this one.
  if (!known && idle.length === 0) {
    const untracked = left.filter(({ kind }) => kind === 'untracked')
    writeFileAtomic(file, JSON.stringify({ results, left: untracked } satisfies Baseline) + '\n')
  }
  setAside(run, left, 'the gates leave what git does not ignore')
  ledger.failedBefore = results.filter((result) => result.verdict !== 'passed')
  emit({ type: 'baseline-finished', results, known: known !== null })
  if (idle.length > 0) return cannotRunReason(idle)
  return gatesPassed(results) || options.baseline !== 'stop'
    ? null
    : 'the gates fail before any work has begun'
}

function cannotRun(results: readonly GateResult[]): readonly GateResult[] {
  return results.filter(({ gate, verdict }) => gate.required && verdict === 'not-runnable')
}

/** No work can make such a gate pass, so an agent would be paid for nothing. */
function cannotRunReason(results: readonly GateResult[]): string {
  const gates = results.map(({ gate, reason }) => `${gate.name} (${gate.command}): ${reason}`)
  return `a gate cannot run, so nothing would be checked: ${gates.join('; ')}. Install what it needs; where a task is to bring it, run with --baseline off`
}

async function runAll({ options, ports }: Run): Promise<readonly GateResult[]> {
  const results: GateResult[] = []
  for (const gate of options.gates) {
    if (ports.control.signal.aborted) break
    results.push(await runLogged(gate, attemptPorts(ports, ''), 'baseline'))
  }
  return results
}

/** What passes in the checkout need not in a workspace, which has other ignored files. */
function keyOf(base: Base, gates: readonly Gate[], isApart: boolean): string {
  return createHash('sha256')
    .update(JSON.stringify([base.head, gates, ...(isApart ? ['apart'] : [])]))
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
