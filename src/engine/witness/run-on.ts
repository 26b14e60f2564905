import type { Gate, GateResult } from '../../base/nouns.ts'
import type { Happening } from '../events/event.ts'
import { makePlainCommit } from '../../git/made-commit.ts'
import { treeOf } from '../../git/tree.ts'
import { installing, runGates, type CheckPorts, type Verdict } from '../check.ts'
import type { Job } from '../job.ts'
import { outcome, type Outcome } from '../outcome.ts'
import type { Emit } from '../ports.ts'
import type { Work } from '../slot/slot.ts'

/** Runs gates on another tree than that of the work, in the clean room. What they leave there counts for nothing. */
export async function runOn(
  tree: string,
  { id, name, base, gates }: { id: string; name: string; base: string; gates: readonly Gate[] },
  ports: CheckPorts,
  emit: Emit<Happening>,
): Promise<readonly GateResult[]> {
  const { slot, home } = ports
  const head = await makePlainCommit(home.git, { tree, parents: [base], message: 'ralph: under check' })
  const problem = await slot.bringCheck(tree, { head, branch: null }, installing(ports, emit, 'check'))
  if (problem !== null) return []
  const hear: Emit<Happening> = (event) => {
    if (event.type !== 'gate-finished' && event.type !== 'gate-started') emit(event)
  }
  const results = await runGates({ id, name, gates }, ports, hear)
  slot.checkWasUsed()
  return results
}

/**
 * The outcome if gates fail on the untouched code, too, that passed on it before: midnight, a certificate or a service has
 * changed, and no agent is to be paid for that. Null if it is the work that fails.
 */
export async function baseOutcome(
  job: Job,
  { work, results }: { work: Work } & Pick<Verdict, 'results'>,
  ports: CheckPorts,
  emit: Emit<Happening>,
): Promise<Outcome | null> {
  const { green, policy } = job.tests
  const failed = results.filter(({ gate, verdict }) => gate.required && verdict !== 'passed')
  const files = work.changes.map(({ path }) => path.slice(path.lastIndexOf('/') + 1))
  const isElsewhere = ({ gate, verdict, seconds, excerpt }: GateResult): boolean =>
    verdict === 'failed' &&
    green.includes(gate.name) &&
    seconds <= policy.limitSeconds &&
    !files.some((file) => excerpt.includes(file))
  if (failed.length === 0 || !failed.every(isElsewhere)) return null
  const gates = failed.map(({ gate }) => gate)
  const on = { id: job.task.id, name: `${job.task.id}-${job.attempt}-base`, base: work.base, gates }
  const there = await runOn(await treeOf(ports.home.git, work.base), on, ports, emit)
  if (there.length === 0 || there.some(({ verdict }) => verdict !== 'failed')) return null
  const names = gates.map(({ name }) => name).join(', ')
  const reason = `${names} passed on the untouched code before, and now fails there, too: ${there[0]!.reason}`
  return outcome('base-changed', reason, { detail: there[0]!.excerpt })
}
