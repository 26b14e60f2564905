import { jobTaskOf, type Job } from '../attempt/job.ts'
import { UNKNOWN_USAGE } from '../events/usage.ts'
import type { Base } from '../git/head.ts'
import { fewOf } from '../base/text.ts'
import type { AttemptFacts, KeptAttempt } from '../git/record.ts'
import { land } from '../landing/land.ts'
import type { Task } from '../task/model.ts'
import type { Work } from '../workspace/port.ts'
import { displacedWarning, type TaskRunEnd } from './give-up.ts'
import { noteOf } from './note.ts'
import { landingPorts } from './job-ports.ts'
import type { Run } from './task.ts'

type LandedTask = Extract<TaskRunEnd, { kind: 'completed' }> & { readonly id: string }

/** A candidate whose task is not done yet. */
interface OpenCandidate {
  readonly candidate: KeptAttempt
  readonly task: Task
}

/** The candidates of an earlier run that can still land; of the others, unfinished work becomes a record, and the refs go. */
export async function openCandidates(
  run: Pick<Run, 'ports' | 'ledger'>,
  base: Base,
): Promise<readonly OpenCandidate[]> {
  const { ports, ledger } = run
  const { record } = ports.workspace
  const open: OpenCandidate[] = []
  for (const candidate of await record.candidates()) {
    const task = ports.source.tasks().find(({ id }) => id === candidate.task)
    const recorded = ledger.attemptAt(candidate.task, candidate.number)
    const hasFailed = recorded !== null && recorded.outcome !== 'interrupted' && recorded.outcome !== 'done'
    const isTaken = open.some((other) => other.task.id === candidate.task)
    if (task?.status === 'TODO' && !hasFailed && !isTaken) {
      open.push({ candidate, task })
      continue
    }
    // A DONE task has landed: only the ref was left.
    if (task?.status !== 'DONE' && !hasFailed) await recordCandidate(run, candidate, { base, ...KILLED })
    record.dropCandidate(candidate)
  }
  return open
}

const KILLED = {
  outcome: 'interrupted',
  reason: 'the run was killed before it could land',
  detail: '',
} as const

/** Lands in the checkout the candidates of a run that died; what does not land becomes a record. */
export async function landCandidates(
  run: Run,
  start: Base,
  enter: (end: LandedTask) => Promise<Base>,
): Promise<Base> {
  const { ports } = run
  const { record } = ports.workspace
  let base = start
  // The run is about to end: a commit that is not sealed yet needs its candidate.
  if (ports.control.isStopping) return base
  for (const { candidate, task } of await openCandidates(run, base)) {
    const end = await landCandidate(run, { task, base, candidate })
    if (end.kind === 'completed') base = await enter(end)
    else {
      await recordCandidate(run, candidate, { base, ...end })
      record.dropCandidate(candidate)
    }
  }
  return base
}

/** Why a candidate does not land. */
type NotLanded = Pick<AttemptFacts, 'reason' | 'detail'> & {
  readonly kind: 'refused'
  readonly outcome: 'interrupted' | 'gate-failed' | 'conflict'
}

async function landCandidate(
  run: Run,
  { task, base, candidate }: { readonly task: Task; readonly base: Base; readonly candidate: KeptAttempt },
): Promise<LandedTask | NotLanded> {
  const { ports, note, ledger, options, emit } = run
  const { inspect, restore } = ports.workspace
  const merged = await inspect.merge(base, candidate)
  if (merged.kind === 'conflict') {
    const reason = `it conflicts with what has landed since it began: ${fewOf(merged.paths)}`
    emit({ type: 'warning', message: `${task.id} did not land: ${reason}` })
    return { kind: 'refused', outcome: 'conflict', reason, detail: merged.hunks }
  }
  const startedAt = ports.now()
  // The sum contains its cost already.
  const usage = { ...candidate.usage, costUsd: null }
  note.begin({ ...noteOf(candidate, { title: task.title, base, startedAt }), usage })
  const from = await inspect.treeOf(base.head)
  for (const one of (await restore.tree({ recorded: from, to: merged.tree })) ?? [])
    emit(displacedWarning(one))
  const work = await inspect.work(base)
  const { subject, progress, checkCriteria } = options
  const job = { task: jobTaskOf(task), attempt: candidate.number, gates: options.gates }
  const landing = landingPorts(run, job)
  // The agent itself may have put it there before the kill: this second check is rare, and cheap compared to that.
  const checked = work.tree === merged.tree ? await landing.check(work) : null
  const landed =
    checked && !checked.refusal
      ? await land(
          {
            candidate: {
              kept: candidate,
              facts: { ...candidate, gates: checked.passed },
              work: checked.work,
            },
            earlier: ledger.seriesAt(task.id),
            subject,
            progress,
            checkCriteria,
          },
          landing,
          emit,
        )
      : null
  if (landed?.kind === 'landed')
    return {
      kind: 'completed',
      id: task.id,
      landed,
      candidate,
      base: { ...landed.work.base, head: landed.commit },
    }
  const refusal = landed?.kind === 'refused' ? landed.refusal : checked?.refusal
  if (refusal) emit({ type: 'warning', message: `${task.id} did not land: ${refusal.reason}` })
  const now = await inspect.work(base)
  for (const one of (await restore.tree({ recorded: now.tree, to: base.head })) ?? [])
    emit(displacedWarning(one))
  note.clear()
  return { kind: 'refused', ...KILLED }
}

/** Keeps what cannot land any more like a failed attempt, so that the next attempt learns of it. */
export async function recordCandidate(
  { ports, ledger }: Pick<Run, 'ports' | 'ledger'>,
  candidate: KeptAttempt,
  {
    base,
    outcome,
    reason,
    detail,
  }: Pick<NotLanded, 'outcome' | 'reason' | 'detail'> & { readonly base: Base },
): Promise<void> {
  const { record } = ports.workspace
  const { commit, parents, tree, keptAt, ...facts } = candidate
  const work: Work = { ...EMPTY_WORK, base: { ...base, head: parents[0] ?? base.head }, tree }
  const kept = await record.keep({
    facts: { ...facts, outcome, reason, detail: detail || facts.detail, gates: null },
    work,
    at: new Date(keptAt * 1000),
    replaces: ledger.attemptAt(candidate.task, candidate.number),
    commits: [commit],
  })
  ledger.keep(kept)
}

/** Records that an attempt that an earlier run gave to a worker had no result. */
export async function keepLost(
  { ports, ledger }: Pick<Run, 'ports' | 'ledger'>,
  job: Job,
): Promise<KeptAttempt> {
  const { record, inspect } = ports.workspace
  const { head } = job.base
  return record.keep({
    facts: lostFacts(job, { reason: 'the worker that had it was lost', seconds: 0 }),
    work: { ...EMPTY_WORK, base: job.base, tree: await inspect.treeOf(head) },
    at: ports.now(),
    replaces: ledger.attemptAt(job.task.id, job.attempt),
  })
}

/** What is known of an attempt without a result. */
export function lostFacts(
  job: Job,
  { reason, seconds }: { readonly reason: string; readonly seconds: number },
): AttemptFacts {
  const { task, attempt, situation, agent, tier, base } = job
  return {
    task: task.id,
    number: attempt,
    outcome: 'lost',
    reason,
    detail: '',
    fingerprint: '',
    base: base.head,
    counted: situation.counted,
    most: situation.most,
    final: false,
    idle: false,
    agent: agent.label,
    model: agent.model,
    tier,
    usage: UNKNOWN_USAGE,
    seconds,
    log: null,
    gates: null,
    gatesChanged: [],
    runsLater: [],
    criteriaMet: [],
    undone: [],
    caged: [],
    changed: [],
  }
}

/** Work of which only base and tree are known. */
export const EMPTY_WORK: Omit<Work, 'base' | 'tree'> = {
  persons: [],
  below: [],
  changes: [],
  head: null,
  operations: [],
  nested: [],
  changedInside: [],
  noLongerIgnored: [],
  refused: null,
}
