import { isErrorLine, tellingLine } from '../base/failure-lines.ts'
import { matchesOneOf } from '../base/glob.ts'
import { formatDuration } from '../base/time.ts'
import { counted, fewOf, shortened } from '../base/text.ts'
import type { CagedAction, Gate, GateResult } from '../base/nouns.ts'
import type { Happening } from './events/event.ts'
import type { Base } from '../git/head.ts'
import { rawChanges } from '../git/raw-changes.ts'
import { withMark } from '../process/mark.ts'
import { fingerprintOf, outcome, type Outcome } from './outcome.ts'
import type { AttemptPorts, Emit, Programs } from './ports.ts'
import type { RunGate } from './gates/run.ts'
import type { Installing, Side } from './slot/slot.ts'
import { testSide } from './witness/test-files.ts'

/** A tree for the gates to check. */
interface ToCheck {
  readonly id: string
  readonly attempt: number
  readonly gates: readonly Gate[]
  readonly tree: string
  /** The commit and branch that the clean room shows to those who ask git there. */
  readonly at: Base
  /** What the tree changes, from the top of the repository. */
  readonly changed: readonly string[]
  /** The changes that decide which gates run; null if all of them do. */
  readonly scope: readonly string[] | null
}

/** The result of the gates. */
export interface Verdict {
  /** Null if all required gates passed. */
  readonly outcome: Outcome | null
  /** The tree that they passed on: a gate that formats files may have changed it. */
  readonly tree: string
  /** The gates that passed, each as a commit names it. */
  readonly passed: readonly string[]
  /** How each gate ended at last. */
  readonly results: readonly GateResult[]
}

/** What is known before any gate has run. */
export function unchecked(outcome: Outcome | null, tree: string): Verdict {
  return { outcome, tree, passed: [], results: [] }
}

/** What the gates of a slot are run with. */
export type CheckPorts = Pick<
  AttemptPorts,
  'slot' | 'home' | 'source' | 'check' | 'logs' | 'mark' | 'control' | 'checkpoint'
>

/**
 * Runs the gates on exactly this tree, in the clean room. If they change files that git knows, as a formatter does, they
 * run once more on the result; if they change them again, the check fails, because each time checks something else.
 */
export async function checkTree(
  toCheck: ToCheck,
  ports: CheckPorts,
  emit: Emit<Happening>,
): Promise<Verdict> {
  const { id } = toCheck
  const { slot, home } = ports
  let { tree } = toCheck
  const scope = toCheck.scope && new Set(toCheck.scope)
  for (let round = 1; ; round++) {
    const gates = scope ? gatesFor(toCheck.gates, [...scope], home) : toCheck.gates
    const skipped = toCheck.gates.flatMap((gate) => (gates.includes(gate) ? [] : [gate.name]))
    if (skipped.length > 0) emit({ type: 'gates-skipped', id, gates: skipped })
    if (gates.length === 0) return unchecked(null, tree)
    const problem = await slot.bringCheck(tree, toCheck.at, installing(ports, emit, 'check'))
    if (problem !== null) return unchecked(outcome('gate-failed', problem), tree)
    const name = `${id}-${toCheck.attempt}`
    let results = await runGates({ id, name, gates }, ports, emit)
    ports.checkpoint('gates-ended')
    const after = await takeChecked(tree, ports)
    if (after === tree) results = await again(results, { ...toCheck, tree, name }, ports, emit)
    const failed = await gateOutcome(results, toCheck, ports)
    slot.checkWasUsed()
    if (failed !== null || after === tree)
      return { outcome: failed, tree, passed: gatesWith(results, true), results }
    const paths = await slot.check.folder.git.run(['diff-tree', '-r', '-z', '--name-only', tree, after])
    const changed = paths.stdout.toString().split('\0').filter(Boolean)
    if (round > 1) {
      const reason = `the gates change what they check: ${fewOf(changed)}`
      return unchecked(outcome('gate-failed', reason), after)
    }
    emit({ type: 'gates-again', id, paths: changed })
    tree = after
    for (const path of changed) scope?.add(path)
  }
}

/** The gates that have something to say of these changes. */
export function gatesFor(
  gates: readonly Gate[],
  changed: readonly string[],
  { prefix }: Pick<CheckPorts['home'], 'prefix'>,
): readonly Gate[] {
  const own = changed.flatMap((path) => (path.startsWith(prefix) ? [path.slice(prefix.length)] : []))
  return gates.filter(({ paths }) => paths === undefined || own.some(matchesOneOf(paths)))
}

/** The gates that did not pass. */
export function failedIn({ results }: Verdict): readonly string[] {
  return gatesWith(results, false)
}

/** The gates that failed first, and then passed on the same files. */
export function flakyIn(results: readonly GateResult[]): readonly string[] {
  return results.flatMap(({ gate, flaky }) => (flaky ? [gate.name] : []))
}

/** The results, with gates whose tests failed run again on the same files: a failure by chance is no work for an agent. */
async function again(
  results: readonly GateResult[],
  toCheck: ToCheck & { readonly name: string },
  ports: CheckPorts,
  emit: Emit<Happening>,
): Promise<readonly GateResult[]> {
  const isTest = testSide([])
  const own = toCheck.changed.filter(isTest).map((path) => path.slice(path.lastIndexOf('/') + 1))
  const settled: GateResult[] = []
  for (const result of results) {
    const { verdict, tests, seconds, excerpt } = result
    // A test that this work adds or changes must not fail even once.
    const isSure = !tests?.failed || seconds > LONGEST_AGAIN || own.some((file) => excerpt.includes(file))
    settled.push(verdict === 'failed' && !isSure ? await runAgain(result, toCheck, ports, emit) : result)
  }
  return settled
}

const LONGEST_AGAIN = 300

/** A gate that failed has passed if it then passes twice. */
async function runAgain(
  failed: GateResult,
  { id, name, tree, at }: ToCheck & { readonly name: string },
  ports: CheckPorts,
  emit: Emit<Happening>,
): Promise<GateResult> {
  const once = async (): Promise<GateResult | null> => {
    if (ports.control.signal.aborted) return null
    ports.slot.checkWasUsed()
    if ((await ports.slot.bringCheck(tree, at, installing(ports, emit, 'check'))) !== null) return null
    emit({ type: 'gate-started', id, gate: failed.gate })
    return (
      (await runGates({ id, name: `${name}-again`, gates: [failed.gate] }, ports, () => undefined))[0] ?? null
    )
  }
  for (let time = 0; time < (failed.gate.rerun ?? 1); time++) {
    if ((await once())?.verdict !== 'passed') continue
    const second = await once()
    if (second?.verdict !== 'passed') return failed
    const result = { ...second, flaky: true as const }
    emit({ type: 'gate-finished', id, result })
    return result
  }
  return failed
}

/** The gates of a verdict, as a commit names them: `test (48 tests, 9s)`. */
function gatesWith(results: readonly GateResult[], isPassed: boolean): readonly string[] {
  const those = results.filter(({ verdict }) => (verdict === 'passed') === isPassed)
  return [
    ...new Set(
      those.map(({ gate, tests, seconds }) => {
        const facts = [
          tests ? counted(tests.run, 'test') : '',
          seconds >= 1 ? formatDuration(seconds) : '',
        ].filter(Boolean)
        return `${gate.name.replaceAll(/[,()]/g, ' ')}${facts.length > 0 ? ` (${facts.join(', ')})` : ''}`
      }),
    ),
  ]
}

/** The tree that gates leave. Task files stay as they were: a formatter has no say in them. */
async function takeChecked(before: string, { slot, home, source }: CheckPorts): Promise<string> {
  const after = await slot.takeCheck()
  if (after === before) return after
  const changes = await rawChanges(home.git, before, after)
  const tasks = changes.filter(({ path }) => source.folders.includes(path.slice(home.prefix.length)))
  const back = tasks.map(({ path, kind, was }) => [path, kind === 'new' ? null : was] as const)
  return back.length === 0 ? after : slot.check.folder.amend(new Map(back))
}

/** How a slot installs packages, with what it says as events. */
export function installing<Name extends Side['name']>(
  ports: Pick<AttemptPorts, 'slot' | 'logs' | 'mark' | 'control' | Name>,
  emit: Emit<Happening>,
  name: Name,
): Installing {
  const programs: Programs = ports[name]
  const onCaged = (action: CagedAction): void => emit({ type: 'caged', id: '', by: 'gate', ...action })
  return {
    onCommand: (command) => emit({ type: 'preparing', command }),
    warn: (message) => emit({ type: 'warning', message }),
    run: (command) => {
      const gate = { name: 'prepare', command, required: true, timeoutSeconds: INSTALL_SECONDS }
      const how = { name: `prepare-${ports.slot.number}`, side: ports.slot[name], onCaged }
      return runLogged(gate, programs.runInstall, ports, how)
    },
  }
}

/** Installing packages may take long without a cache. */
const INSTALL_SECONDS = 1800

/** Runs every gate, so that the report shows all that is wrong at once. */
export async function runGates(
  { id, name, gates }: { id: string; name: string; gates: readonly Gate[] },
  ports: CheckPorts,
  emit: Emit<Happening>,
): Promise<readonly GateResult[]> {
  const results: GateResult[] = []
  const onCaged = (action: CagedAction): void => emit({ type: 'caged', id, by: 'gate', ...action })
  for (const [index, gate] of gates.entries()) {
    if (ports.control.signal.aborted) break
    // What one gate has changed in the packages must not decide the next one.
    if (index > 0) await ports.slot.renewPackages(installing(ports, emit, 'check'))
    emit({ type: 'gate-started', id, gate })
    const how = { name, side: ports.slot.check, onCaged }
    const result = await runLogged(gate, ports.check.runGate, ports, how)
    emit({ type: 'gate-finished', id, result })
    results.push(result)
  }
  return results
}

/** Runs one command in a folder of the slot, and writes its output to a log whose name begins with `name`. */
export async function runLogged(
  gate: Gate,
  run: RunGate,
  { slot, logs, mark, control }: Pick<AttemptPorts, 'slot' | 'logs' | 'mark' | 'control'>,
  { name, side, onCaged }: { name: string; side: Side; onCaged: (action: CagedAction) => void },
): Promise<GateResult> {
  const log = logs.open(`${name}-${fileName(gate.name)}.log`)
  try {
    return await run(gate, {
      cwd: side.root,
      env: withMark(slot.env(side), mark),
      signal: control.signal,
      killSignal: control.killSignal,
      onCaged,
      log: (chunk) => log.write(chunk),
    })
  } finally {
    log.close()
  }
}

/** A name that is valid on any file system. */
function fileName(name: string): string {
  return name.replaceAll(/[^\p{L}\p{N}.-]+/gu, '_').slice(0, 80)
}

async function gateOutcome(
  results: readonly GateResult[],
  toCheck: ToCheck,
  { home, control }: CheckPorts,
): Promise<Outcome | null> {
  if (control.signal.aborted || results.some(({ verdict }) => verdict === 'interrupted'))
    return outcome('interrupted', 'the run was interrupted while the gates ran')
  const failed = results.filter(({ gate, verdict }) => gate.required && verdict !== 'passed')
  if (failed.length === 0) return null
  const reason = failed.map(failureText).join('; ')
  const missing = failed.find((result) => result.missing !== undefined)?.missing
  // A commit can add programs that belong to the project.
  const isMachines =
    missing !== undefined && !missing.includes('/') && !(await isNamedIn(missing, toCheck, home))
  return outcome(
    isMachines ? 'gate-missing' : 'gate-failed',
    isMachines ? `a gate cannot run: ${reason}` : reason,
    {
      detail: failed.map(({ gate, excerpt }) => `${gate.name} (${gate.command})\n\n${excerpt}`).join('\n\n'),
      fingerprint: failurePrint(failed),
    },
  )
}

/** Whether a changed file names that program: then the work itself may be meant to add it. */
async function isNamedIn(
  program: string,
  { tree, changed }: ToCheck,
  { git }: CheckPorts['home'],
): Promise<boolean> {
  if (changed.length === 0) return false
  if (changed.some((path) => path.includes(program))) return true
  const paths = changed.map((path) => `:(top,literal)${path}`)
  const args = ['grep', '--quiet', '--fixed-strings', '-e', program, tree, '--', ...paths]
  return (await git.run(args, { okCodes: [0, 1] })).code === 0
}

const LINE_SHOWN = 120

/** `test: exited with code 1: AssertionError: expected 2 to be 3`. */
function failureText({ gate, verdict, reason, excerpt }: GateResult): string {
  // Other verdicts say what was wrong. Of a tool that ends with a summary of its time, an error says more than the end.
  const line = verdict === 'failed' ? tellingLine(excerpt, isErrorLine).replace(/\s+/g, ' ') : ''
  return [gate.name, reason, shortened(line, LINE_SHOWN)].filter((part) => part !== '').join(': ')
}

/** Distinguishes one failure of the gates from another. */
export function failurePrint(failed: readonly GateResult[]): string {
  return fingerprintOf(failed.map((result) => `${result.gate.name}:${result.fingerprint}`).join(' '))
}
