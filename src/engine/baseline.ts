import { installing, runGates } from './check.ts'
import { fewOf } from '../base/text.ts'
import type { CagedAction, GateResult } from '../base/nouns.ts'
import type { Happening } from './events/event.ts'
import type { Base } from '../git/head.ts'
import { allIgnored } from '../git/repository.ts'
import { treeOf } from '../git/tree.ts'
import type { Emit } from './ports.ts'
import { fetchesIn } from './slot/packages.ts'
import { attemptPorts, type Place, type Run } from './run-parts.ts'

/**
 * Runs the gates on the untouched tree of a commit, in a clean room, so that no attempt is blamed for earlier failures, and
 * what is missing there is found before any agent is paid; returns why the run ends, or null.
 */
export async function runBaseline(run: Run, place: Place, base: Base): Promise<string | null> {
  const { options, ports, ledger, emit } = run
  const { slot } = place
  const { gates } = options
  if (gates.length === 0 || options.baseline === 'off') return null
  const at = attemptPorts(run, place)
  const tree = await treeOf(ports.home.git, base.head)
  const problem = await slot.bringCheck(tree, base, installing(at, emit, 'check'))
  if (problem !== null) return problem
  emit({ type: 'baseline-started', gates })
  const refused: CagedAction[] = []
  const hear: Emit<Happening> = (event) => {
    if (event.type === 'caged') refused.push(event)
    if (event.type !== 'gate-started' && event.type !== 'gate-finished') emit(event)
  }
  const ran = await runGates({ id: '', name: 'baseline', gates }, at, hear)
  const rewritten = await slot.check.folder.changed()
  slot.checkWasUsed()
  if (ports.control.signal.aborted) return null
  ledger.passedBefore = ran.filter(({ verdict }) => verdict === 'passed')
  const inForce = ledger.inForce(gates)
  const results = ran.map((result, index) => ({ ...result, gate: inForce[index]! }))
  ledger.failedBefore = results.filter((result) => result.verdict !== 'passed')
  emit({ type: 'baseline-finished', results })
  const changed = rewritten.filter(
    (path) => !ports.source.folders.includes(path.slice(ports.home.prefix.length)),
  )
  if (changed.length > 0)
    emit({
      type: 'warning',
      message: `the gates change the untouched code: ${fewOf(changed)}. Run them and commit that, or have them only check: otherwise it becomes part of each task's commit`,
    })
  if (results.every(({ gate, verdict }) => verdict === 'passed' || !gate.required)) return null
  const lacks = `${howToFetch(slot.check.root)}${await whatRoomLacks(run, place)}`
  const reason = reasonToEnd(results, refused, lacks)
  if (reason !== null) return reason
  const message = `the gates fail before any work has begun${lacks}`
  if (options.baseline === 'stop') return message
  if (lacks !== '') emit({ type: 'warning', message })
  return null
}

/** Why no agent should be paid yet: a gate that cannot run, or that the sandbox refused something. */
function reasonToEnd(
  results: readonly GateResult[],
  refused: readonly CagedAction[],
  lacks: string,
): string | null {
  const failed = results.filter(({ gate, verdict }) => gate.required && verdict !== 'passed')
  const idle = failed.filter(({ verdict }) => verdict === 'not-runnable')
  if (idle.length > 0)
    return `a gate cannot run, so nothing would be checked: ${namesOf(idle)}. Install what it needs; where a task is to add it to the project, run with --baseline off${lacks}`
  const entries = [...new Set(refused.flatMap(({ allowedBy }) => allowedBy ?? []))]
  if (entries.length === 0) return null
  return `a gate fails, and the sandbox refused it something: ${namesOf(failed)}. These entries of the configuration would allow it: ${entries.join(', ')}${lacks}. If it fails for another reason, run with --baseline off`
}

function namesOf(failed: readonly GateResult[]): string {
  return failed.map(({ gate, reason }) => `${gate.name} (${gate.command}): ${reason}`).join('; ')
}

function howToFetch(root: string): string {
  const commands = fetchesIn(root)
  return commands.length === 0
    ? ''
    : `. If packages are missing, run ${commands.join(' and ')} once in the checkout`
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
