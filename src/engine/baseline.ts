import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { installing, runLogged } from './check.ts'
import { writeFileAtomic } from '../base/atomic-file.ts'
import { readPlainFile } from '../base/read-file.ts'
import { fewOf, parsedJson } from '../base/text.ts'
import type { CagedAction } from '../events/caged.ts'
import { gatesPassed, type Gate, type GateResult } from '../events/gate.ts'
import type { Base } from '../git/head.ts'
import { allIgnored } from '../git/repository.ts'
import { treeOf } from '../git/tree.ts'
import { attemptPorts, type Place, type Run } from './run-parts.ts'

/**
 * Runs the gates on the untouched tree of a commit, in a clean room, so that no attempt is blamed for earlier failures, and
 * what is missing there is found before any agent is paid; returns why the run ends, or null.
 */
export async function runBaseline(run: Run, place: Place, base: Base): Promise<string | null> {
  const { options, ports, ledger, emit } = run
  const { slot } = place
  const { gates } = options
  if (gates.length === 0) return null
  if (options.baseline === 'off') return whatIsMissing(run, place)
  const tree = await treeOf(ports.home.git, base.head)
  const at = attemptPorts(run, place, '')
  const problem = await slot.bringCheck(tree, base, installing(at, emit))
  if (problem !== null) return problem
  const file = join(ports.folder.results, `baseline-${keyOf(tree, gates, ports.sandbox.on)}.json`)
  const known = readBaseline(file)
  if (!known) emit({ type: 'baseline-started', gates })
  const refused: CagedAction[] = []
  const results = known ?? (await runAll(run, place, refused))
  if (!known) slot.checkWasUsed(gatesPassed(results))
  const onlyCaged = known ? [] : await failedOnlyCaged(run, place, results)
  if (ports.control.signal.aborted) return null
  const idle = cannotRun(results)
  // Packages that are installed later are in no commit, so a gate that could not run says nothing about this commit.
  if (!known && idle.length === 0 && onlyCaged.length === 0)
    writeFileAtomic(file, JSON.stringify({ results } satisfies Baseline) + '\n')
  ledger.failedBefore = results.filter((result) => result.verdict !== 'passed')
  emit({ type: 'baseline-finished', results, known: known !== null })
  if (onlyCaged.length > 0) return onlyCagedReason(onlyCaged, refused)
  const lacks = results.every(({ verdict }) => verdict === 'passed') ? '' : await whatRoomLacks(run, place)
  if (idle.length > 0) return `${cannotRunReason(idle, INSTALL_OR_WAIT)}${lacks}`
  if (gatesPassed(results)) return null
  if (options.baseline === 'stop') return `the gates fail before any work has begun${lacks}`
  if (lacks !== '') emit({ type: 'warning', message: `the gates fail before any work has begun${lacks}` })
  return null
}

/** Names what git ignores in the checkout and the clean room does not have: a gate that fails may need it. */
async function whatRoomLacks({ ports }: Run, { slot }: Place): Promise<string> {
  const { home, slots } = ports
  const ignored = await allIgnored(home.git)
  const kept = await slots.readying.kept(slot.check.root)
  const isKnown = (path: string): boolean =>
    path.startsWith('.ralph/') || kept.some((one) => `${path}/`.startsWith(`${one}/`) || path === `${one}/`)
  const lacking = ignored.filter((path) => !isKnown(path) && !BUILT.test(path))
  if (lacking.length === 0) return ''
  const them = lacking.length === 1 ? 'it' : 'them'
  return `. They run in a clean room, without what git ignores: the checkout has ${fewOf(lacking)}. If they need ${them}, name ${them} in workspace.copy or .worktreeinclude`
}

/** What tools make again by themselves explains no failure. */
const BUILT =
  /(?:^|\/)(?:node_modules|\.venv|__pycache__|dist|build|target|coverage|\.cache|\.git|\.[a-z]+_cache)(?:\/|$)|\.(?:log|pyc)$/

/** Checked even without a baseline: no commit could add a program that is not on PATH. */
async function whatIsMissing({ options }: Run, { check }: Place): Promise<string | null> {
  const idle: CannotRun[] = []
  for (const gate of options.gates.filter(({ required }) => required)) {
    const program = await check.missingProgram(gate.command)
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
  run: Run,
  place: Place,
  results: readonly GateResult[],
): Promise<readonly GateResult[]> {
  const { runGateUncaged } = place.check
  if (runGateUncaged === null) return []
  const ports = attemptPorts(run, place, '')
  const how = { name: 'baseline-uncaged', side: place.slot.check, onCaged: () => undefined }
  const found: GateResult[] = []
  for (const result of results) {
    if (!result.gate.required || result.verdict === 'passed' || ports.signal.aborted) continue
    const outside = await runLogged(result.gate, runGateUncaged, ports, how)
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

async function runAll(run: Run, place: Place, refused: CagedAction[]): Promise<readonly GateResult[]> {
  const ports = attemptPorts(run, place, '')
  const onCaged = (action: CagedAction): void => {
    refused.push(action)
    run.emit({ type: 'caged', id: '', by: 'gate', ...action })
  }
  const results: GateResult[] = []
  for (const gate of run.options.gates) {
    if (ports.signal.aborted) break
    const how = { name: 'baseline', side: place.slot.check, onCaged }
    results.push(await runLogged(gate, place.check.runGate, ports, how))
  }
  return results
}

/** Results hold for a tree, these gates, and with or without a cage. */
function keyOf(tree: string, gates: readonly Gate[], isCaged: boolean): string {
  return createHash('sha256')
    .update(JSON.stringify([tree, gates, isCaged]))
    .digest('hex')
    .slice(0, 16)
}

/** What is stored about the gates on a tree. */
interface Baseline {
  readonly results: readonly GateResult[]
}

function readBaseline(file: string): readonly GateResult[] | null {
  const read = parsedJson(readPlainFile(file, 16 * 1024 * 1024) ?? '')
  if (typeof read !== 'object' || read === null || !('results' in read)) return null
  return Array.isArray(read.results) && read.results.every(isResult) ? read.results : null
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
