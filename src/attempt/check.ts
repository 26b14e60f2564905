import { isErrorLine, tellingLine } from '../base/failure-lines.ts'
import { fewOf, shortened } from '../base/text.ts'
import { parseGlob } from '../base/glob.ts'
import type { CagedAction } from '../events/caged.ts'
import type { Happening } from '../events/event.ts'
import type { Gate, GateResult } from '../events/gate.ts'
import { checkTree, type TreeAfter } from '../gates/check.ts'
import type { StatusEntry } from '../git/status.ts'
import type { Work } from '../workspace/port.ts'
import { fingerprintOf, outcome, type Outcome } from './outcome.ts'
import type { AttemptPorts, Emit } from './ports.ts'
import { attemptEnvironment } from './run-agent.ts'

/** Work for the gates to check. */
interface ToCheck {
  readonly id: string
  readonly attempt: number
  readonly gates: readonly Gate[]
  readonly work: Work
  /** The project's files that landing writes: they may differ. */
  readonly written: readonly string[]
  /** What any task is to produce: such a file is no gate output. */
  readonly produced: readonly string[]
  /** Why the state after the gates cannot be the work; null if it can. */
  readonly objection: (work: Work) => Promise<string | null>
}

/** The result of the gates. */
export interface WorkVerdict {
  /** Null if all required gates passed. */
  readonly outcome: Outcome | null
  /** The work that they passed on. */
  readonly work: Work
  /** The names of the gates that passed. */
  readonly passed: readonly string[]
}

/** Runs the gates on the work until they leave it unchanged. */
export async function checkWork(
  check: ToCheck,
  ports: AttemptPorts,
  emit: Emit<Happening>,
): Promise<WorkVerdict> {
  const { id, gates } = check
  let { work } = check
  const { results, problem } = await checkTree(gates, work.tree, {
    run: (gate) => runReported(gate, check, { ports, emit }),
    inspect: async () => {
      ports.checkpoint('gates-ended')
      const after = await inspectAfter({ ...check, work }, ports, emit)
      work = after.work
      return after
    },
    onAgain: (paths) => emit({ type: 'gates-again', id, paths }),
    signal: ports.signal,
  })
  const passed = results.flatMap(({ gate, verdict }) => (verdict === 'passed' ? [gate.name] : []))
  const found = outcomeOf(results, problem, ports.signal)
  const missing = found?.kind === 'gate-failed' ? missingIn(results) : null
  // A commit can add programs that belong to the project.
  const isMachines = missing !== null && !missing.includes('/') && !isNamedIn(work, missing, ports)
  return {
    outcome: isMachines
      ? { ...found!, kind: 'gate-missing', reason: `a gate cannot run: ${found!.reason}` }
      : found,
    work,
    passed: [...new Set(passed)],
  }
}

/** The program that a required gate lacks; null if none is missing. */
function missingIn(results: readonly GateResult[]): string | null {
  const failed = lastOfEach(results).filter(({ gate, verdict }) => gate.required && verdict !== 'passed')
  return failed.find(({ missing }) => missing !== undefined)?.missing ?? null
}

/** Whether a changed file names that program: then the work itself may be meant to add it. */
function isNamedIn({ changes }: Work, program: string, { workspace }: AttemptPorts): boolean {
  const { inspect, prefix } = workspace
  const inProject = changes.flatMap(({ path }) =>
    path.startsWith(prefix) ? [path.slice(prefix.length)] : [],
  )
  return inProject.some((path) => path.includes(program) || inspect.text(path)?.includes(program))
}

async function runReported(
  gate: Gate,
  { id, attempt }: ToCheck,
  { ports, emit }: { readonly ports: AttemptPorts; readonly emit: Emit<Happening> },
): Promise<GateResult> {
  emit({ type: 'gate-started', id, gate })
  const onCaged = (action: CagedAction): void => emit({ type: 'caged', id, by: 'gate', ...action })
  const result = await runLogged(gate, ports, { name: `${id}-${attempt}`, onCaged })
  emit({ type: 'gate-finished', id, result })
  return result
}

/** Runs one gate and writes its output to a log whose name begins with `name`. */
export async function runLogged(
  gate: Gate,
  ports: AttemptPorts,
  { name, onCaged }: { readonly name: string; readonly onCaged: (action: CagedAction) => void },
): Promise<GateResult> {
  const log = ports.logs.open(`${name}-${fileName(gate.name)}.log`)
  try {
    return await ports.runGate(gate, {
      cwd: ports.workspace.root,
      env: attemptEnvironment(ports),
      signal: ports.signal,
      killSignal: ports.killSignal,
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

/** Inspects the tree after the gates, which may have changed anything in it: only what is committed counts. */
async function inspectAfter(
  check: ToCheck,
  ports: AttemptPorts,
  emit: Emit<Happening>,
): Promise<TreeAfter & { readonly work: Work }> {
  const { inspect, restore, prefix } = ports.workspace
  const { work } = check
  const { base } = work
  const leaving = check.written.map((file) => `${prefix}${file}`)
  const { head, branch, entries } = await inspect.status()
  const isMoved = head !== base.head || branch !== base.branch
  // What somebody has committed in the meantime is not gate output.
  const committed = new Set(isMoved && head !== null ? await inspect.differing(base.head, head) : [])
  const fresh = entries.filter(({ path, unstaged, dirtyInside }) => {
    return unstaged && !dirtyInside && !leaving.includes(path)
  })
  const made = gateOutput(
    fresh.filter(({ path }) => !committed.has(path)),
    check.produced.map((path) => `${prefix}${path}`),
  )
  if (made.length > 0) {
    restore.setAside(made)
    emit({ type: 'warning', message: `the gates leave what git does not ignore: ${setAsideText(made)}` })
  }
  const changed = fresh.flatMap(({ path, nested }) => (nested || made.includes(path) ? [] : [path]))
  if (changed.length === 0 && !isMoved) return { tree: work.tree, changed, objection: null, work }
  let now = await inspect.work(base, leaving)
  if (now.persons.length > 0)
    emit({ type: 'warning', message: 'you committed while the gates ran: the task lands on top of it' })
  if (now.head) {
    const message = 'a gate moved HEAD: it is back, and what it committed is part of the work'
    emit({ type: 'warning', message })
    const lost = await restore.lostByGoingBack(now.base, now)
    if (!(await restore.head(now.base, now))) return inspectAfter(check, ports, emit)
    await restore.files(now.base, lost)
    now = await inspect.work(now.base, leaving)
  }
  return { tree: now.tree, changed, objection: await check.objection(now), work: now }
}

/** New files of gates and hooks that git does not ignore and no Produces names. */
export function gateOutput(entries: readonly StatusEntry[], produced: readonly string[]): readonly string[] {
  return entries.flatMap(({ path, kind, nested }) =>
    kind === 'untracked' && !nested && !isAnnounced(path, produced) ? [path] : [],
  )
}

/** Whether Produces names the path, a folder that it is in, or a pattern that matches it. */
export function isAnnounced(path: string, produced: readonly string[]): boolean {
  return produced.some((named) => {
    const glob = parseGlob(named)
    return glob ? glob.matches(path) : path === named || path.startsWith(named.replace(/\/*$/, '/'))
  })
}

/** `coverage (left out of every commit: add it to .gitignore)`. */
export function setAsideText(paths: readonly string[]): string {
  return `${fewOf(paths)} (left out of every commit: add it to .gitignore)`
}

function outcomeOf(
  results: readonly GateResult[],
  problem: string | null,
  signal: AbortSignal,
): Outcome | null {
  if (signal.aborted || results.some((result) => result.verdict === 'interrupted'))
    return outcome('interrupted', 'the run was interrupted while the gates ran')
  if (problem !== null) return outcome('gate-failed', problem)
  const last = lastOfEach(results)
  const failed = last.filter((result) => result.gate.required && result.verdict !== 'passed')
  if (failed.length === 0) return null
  return outcome('gate-failed', failed.map(failureText).join('; '), {
    detail: failed
      .map((result) => `${result.gate.name} (${result.gate.command})\n\n${result.excerpt}`)
      .join('\n\n'),
    fingerprint: failurePrint(failed),
  })
}

const LINE_SHOWN = 120

/** `test: exited with code 1: AssertionError: expected 2 to be 3`. */
function failureText({ gate, verdict, reason, excerpt }: GateResult): string {
  // Other verdicts say what was wrong. Of a tool that ends with a summary of its time, an error says more than the end.
  const line = verdict === 'failed' ? tellingLine(excerpt, isErrorLine).replace(/\s+/g, ' ') : ''
  return [gate.name, reason, shortened(line, LINE_SHOWN)].filter((part) => part !== '').join(': ')
}

/** Of a gate that ran twice, only the last result counts. */
function lastOfEach(results: readonly GateResult[]): readonly GateResult[] {
  return [...new Map(results.map((result) => [result.gate.name, result])).values()]
}

/** Distinguishes one failure of the gates from another. */
export function failurePrint(failed: readonly GateResult[]): string {
  return fingerprintOf(failed.map((result) => `${result.gate.name}:${result.fingerprint}`).join(' '))
}
