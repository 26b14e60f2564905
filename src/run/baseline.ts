import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runLogged } from '../attempt/check.ts'
import { writeFileAtomic } from '../base/atomic-file.ts'
import type { CagedAction } from '../events/caged.ts'
import { gatesPassed, type Gate, type GateResult } from '../events/gate.ts'
import type { Base } from '../git/head.ts'
import type { StatusEntry } from '../git/status.ts'
import { setAside } from './give-up.ts'
import { attemptPorts } from './job-ports.ts'
import type { Run } from './task.ts'

/**
 * Runs the gates on the untouched tree, so that no attempt is blamed for earlier failures; returns why the run ends,
 * or null.
 */
export async function runBaseline(run: Run, base: Base): Promise<string | null> {
  const { options, ports, ledger, emit } = run
  if (options.gates.length === 0) return null
  if (options.baseline === 'off') return whatIsMissing(run)
  const file = join(
    ports.folder.results,
    `baseline-${keyOf(base, options.gates, { isCaged: ports.sandbox.on, isApart: run.together !== null })}.json`,
  )
  const known = readBaseline(file)
  if (!known) emit({ type: 'baseline-started', gates: options.gates })
  const refused: CagedAction[] = []
  const results = known?.results ?? (await runAll(run, refused))
  const onlyCaged = known ? [] : await failedOnlyCaged(run, results)
  if (ports.control.signal.aborted) return null
  // All present files come from the gates: the tree was clean before.
  const left = known?.left ?? (await ports.workspace.inspect.status()).entries
  const idle = cannotRun(results)
  // Packages that are installed later are in no commit, so a gate that could not run says nothing about this commit.
  if (!known && idle.length === 0 && onlyCaged.length === 0) {
    const untracked = left.filter(({ kind }) => kind === 'untracked')
    writeFileAtomic(file, JSON.stringify({ results, left: untracked } satisfies Baseline) + '\n')
  }
  setAside(run, left, 'the gates leave what git does not ignore')
  ledger.failedBefore = results.filter((result) => result.verdict !== 'passed')
  emit({ type: 'baseline-finished', results, known: known !== null })
  if (onlyCaged.length > 0) return onlyCagedReason(onlyCaged, refused)
  if (idle.length > 0) return cannotRunReason(idle, INSTALL_OR_WAIT)
  return gatesPassed(results) || options.baseline !== 'stop'
    ? null
    : 'the gates fail before any work has begun'
}

/** Checked even without a baseline: no commit could add a program that is not on PATH. */
async function whatIsMissing({ options, ports }: Run): Promise<string | null> {
  const idle: CannotRun[] = []
  for (const gate of options.gates.filter(({ required }) => required)) {
    const program = await ports.missingProgram(gate.command)
    if (program !== null && !program.includes('/')) idle.push({ gate, reason: `${program} is not on PATH` })
  }
  return idle.length === 0 ? null : cannotRunReason(idle, 'Install what it needs, or leave the gate out')
}

type CannotRun = Pick<GateResult, 'gate' | 'reason'>

function cannotRun(results: readonly GateResult[]): readonly GateResult[] {
  return results.filter(({ gate, verdict }) => gate.required && verdict === 'not-runnable')
}

const INSTALL_OR_WAIT =
  'Install what it needs; where a task is to add it to the project, run with --baseline off'

/** No work can make such a gate pass, so an agent would cost money for nothing. */
function cannotRunReason(idle: readonly CannotRun[], fix: string): string {
  const gates = idle.map(({ gate, reason }) => `${gate.name} (${gate.command}): ${reason}`)
  return `a gate cannot run, so nothing would be checked: ${gates.join('; ')}. ${fix}`
}

/** The required gates that fail, and pass without a cage. */
async function failedOnlyCaged(
  { ports }: Run,
  results: readonly GateResult[],
): Promise<readonly GateResult[]> {
  const { runGateUncaged } = ports
  if (runGateUncaged === null) return []
  const uncaged = { ...attemptPorts(ports, ''), runGate: runGateUncaged }
  const found: GateResult[] = []
  for (const result of results) {
    if (!result.gate.required || result.verdict === 'passed' || ports.control.signal.aborted) continue
    const outside = await runLogged(result.gate, uncaged, {
      name: 'baseline-uncaged',
      onCaged: () => undefined,
    })
    if (outside.verdict === 'passed') found.push(result)
  }
  return found
}

/** An agent would cost money for what it cannot mend: the configuration must change. */
function onlyCagedReason(failed: readonly GateResult[], refused: readonly CagedAction[]): string {
  const gates = failed.map(({ gate, reason }) => `${gate.name} (${gate.command}): ${reason}`).join('; ')
  const entries = [...new Set(refused.flatMap(({ allowedBy }) => allowedBy ?? []))]
  const help =
    entries.length === 0
      ? 'what it lacks may be named in sandbox.write, sandbox.read or sandbox.gatesNetwork'
      : `it was refused what these would allow: ${entries.join(', ')}`
  return `a gate passes only outside of the sandbox: ${gates}. In the configuration, ${help}; or run with --sandbox off`
}

async function runAll({ options, ports, emit }: Run, refused: CagedAction[]): Promise<readonly GateResult[]> {
  const onCaged = (action: CagedAction): void => {
    refused.push(action)
    emit({ type: 'caged', id: '', by: 'gate', ...action })
  }
  const results: GateResult[] = []
  for (const gate of options.gates) {
    if (ports.control.signal.aborted) break
    results.push(await runLogged(gate, attemptPorts(ports, ''), { name: 'baseline', onCaged }))
  }
  return results
}

/** Gates that pass in the checkout may fail in a workspace, which has other ignored files. */
function keyOf(
  base: Base,
  gates: readonly Gate[],
  { isCaged, isApart }: { readonly isCaged: boolean; readonly isApart: boolean },
): string {
  return createHash('sha256')
    .update(JSON.stringify([base.head, gates, isCaged, isApart]))
    .digest('hex')
    .slice(0, 16)
}

/** What is stored about the gates on a commit. */
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
