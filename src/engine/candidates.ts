import { type AttemptFacts, type KeptAttempt, attemptRef, listCandidates } from '../git/record.ts'
import { setRef } from '../git/refs.ts'
import type { Task } from '../backlog/model.ts'
import { keep } from './attempt.ts'
import type { Run } from './run-parts.ts'

/** A candidate whose task is not done yet. */
interface OpenCandidate {
  readonly candidate: KeptAttempt
  readonly task: Task
}

type RunOfCandidates = Pick<Run, 'ports' | 'ledger'>

/** The candidates of an earlier run that can still land; of the others, unfinished work becomes a record, and the refs go. */
export async function openCandidates(
  run: RunOfCandidates & Pick<Run, 'emit'>,
): Promise<readonly OpenCandidate[]> {
  const { ports, ledger } = run
  const open: OpenCandidate[] = []
  for (const candidate of await listCandidates(ports.home.git)) {
    const task = ports.source.tasks().find(({ id }) => id === candidate.task)
    const recorded = ledger.attemptAt(candidate.task, candidate.number)
    const hasFailed = recorded !== null && recorded.outcome !== 'interrupted'
    const isTaken = open.some((other) => other.task.id === candidate.task)
    if (task?.status === 'TODO' && !hasFailed && !isTaken) {
      open.push({ candidate, task })
      continue
    }
    // A DONE task has landed: the ref was left, and perhaps its issue.
    const problem = task?.status === 'DONE' ? await ports.slots.closeOrigin(task) : null
    if (problem !== null) run.emit({ type: 'warning', message: problem })
    if (task?.status !== 'DONE' && !hasFailed)
      await recordCandidate(run, candidate, {
        outcome: 'interrupted',
        reason: 'the run was killed before it could land',
        detail: '',
      })
    await dropCandidate(run, candidate)
  }
  return open
}

/** Removes the ref of a candidate that has landed, or is a record now. */
export async function dropCandidate({ ports }: RunOfCandidates, { ref, commit }: KeptAttempt): Promise<void> {
  await setRef(ports.home.git, ref, { from: commit, to: null })
  ports.workers?.dropped(ref)
}

/** Keeps what cannot land any more like a failed attempt, so that the next attempt learns of it. */
export async function recordCandidate(
  { ports, ledger }: RunOfCandidates,
  candidate: KeptAttempt,
  failure: Pick<AttemptFacts, 'outcome' | 'reason' | 'detail'>,
): Promise<KeptAttempt> {
  const { task, number, commit, tree } = candidate
  const before = ledger.attemptAt(task, number)
  const record = await keep(
    ports,
    { ...candidate, ...failure, detail: failure.detail || candidate.detail, gates: null },
    {
      ref: attemptRef(task, number),
      tree,
      replaces: before?.commit ?? null,
      more: [commit],
    },
  )
  ledger.keep(record)
  return record
}
