import { begunTree, fail, factsOfJob, type Failed, type Result } from '../attempt.ts'
import { decide } from '../decide.ts'
import { changedGates } from '../gate-files.ts'
import { taskChanges } from '../interference.ts'
import type { Job } from '../job.ts'
import { outcome, type Outcome } from '../outcome.ts'
import { changedConfiguration } from '../trust.ts'
import type { AttemptPorts, Emit } from '../ports.ts'
import { inspect } from '../secrets.ts'
import { fewOf } from '../../base/text.ts'
import type { Happening } from '../events/event.ts'
import { UNKNOWN_USAGE } from '../../base/usage.ts'
import { rawChanges } from '../../git/raw-changes.ts'
import { attemptRef, candidateRef, listCandidates, listRecords, type KeptAttempt } from '../../git/record.ts'
import { setRef } from '../../git/refs.ts'
import type { JobEnd } from './queue.ts'
import type { Remote } from './remote.ts'

/** What a run knows of a job that it has given to a worker. */
export interface GivenJob {
  readonly job: Job
  /** What making an attempt elsewhere uses here. */
  readonly ports: Omit<AttemptPorts, 'slot' | 'work' | 'check'>
  readonly emit: Emit<Happening>
  /** When the job was given. */
  readonly begunAt: Date
}

/**
 * Turns a worker's report into the result of an attempt here. Its word is not enough for work to land: the commit is
 * fetched, its changes are checked again, and the gates run once more when it lands. What an attempt cost, and why it
 * failed, is taken from the worker.
 */
export async function acceptReport(
  given: GivenJob,
  { worker, end }: { worker: string; end: Exclude<JobEnd, { kind: 'given-back' }> },
  remote: Remote,
): Promise<Result> {
  if (end.kind === 'passed') return acceptPassed(given, { worker, end }, remote)
  const { job, ports } = given
  const { until, ...reported } = end.outcome
  const isWorkersEnd =
    reported.kind === 'interrupted' &&
    !ports.control.signal.aborted &&
    !ports.control.skipped(job.task.id).aborted
  const ended: Outcome = isWorkersEnd
    ? outcome('lost', `the worker ${worker} was ended`)
    : { ...reported, until: until === null ? null : new Date(until) }
  const record = end.record === null ? null : await recordOf(given, end.record, remote)
  return failedElsewhere(given, ended, { ...end, record })
}

/** Records a lost attempt, so that its number and its candidate's name are not used again. */
export async function recordLost(given: GivenJob, reason: string): Promise<Failed> {
  const { job, ports, emit, begunAt } = given
  const seconds = Math.max(0, (ports.now().getTime() - begunAt.getTime()) / 1000)
  const facts = { ...factsOfJob(job), reason, seconds }
  const tree = await begunTree(given.job, given.ports.home.git)
  return fail(job, { facts, tree, outcome: outcome('lost', reason), denied: [] }, ports, emit)
}

/** The result of an attempt that was not made; nothing is recorded. */
export function notMade(given: GivenJob, ended: Outcome): Promise<Failed> {
  return failedElsewhere(given, ended, { record: null, usage: UNKNOWN_USAGE, resume: null })
}

async function failedElsewhere(
  { job, ports }: GivenJob,
  ended: Outcome,
  { record, usage, resume }: Pick<Failed, 'record' | 'usage' | 'resume'>,
): Promise<Failed> {
  const begun = await begunTree(job, ports.home.git)
  const tree = record?.tree ?? begun
  const idle = tree === begun && (record?.idle ?? false)
  const decision = decide({ outcome: ended, usage, idle }, { ...job.situation, now: ports.now() })
  const isWait = decision.kind === 'wait'
  return {
    kind: 'failed',
    outcome: ended,
    decision,
    record,
    tree,
    usage,
    session: null,
    resume: isWait ? resume : null,
  }
}

async function acceptPassed(
  given: GivenJob,
  { worker, end }: { worker: string; end: Extract<JobEnd, { kind: 'passed' }> },
  remote: Remote,
): Promise<Result> {
  const { job, ports, emit } = given
  const { git } = ports.home
  const ref = candidateRef(job.task.id, job.attempt, job.token)
  if (end.candidate !== ref)
    return recordLost(given, `the worker ${worker} sent another candidate than was asked for`)
  await remote.bring([ref])
  const kept = (await listCandidates(git)).find((one) => one.ref === ref)
  if (kept?.base !== job.base.head)
    return recordLost(
      given,
      `the worker ${worker} sent a candidate that does not stand on the base of its job`,
    )
  const changes = await rawChanges(git, kept.base, kept.tree)
  const work = { base: kept.base, tree: kept.tree, changes }
  const { touched, corrected } = await taskChanges(job, work, ports)
  const gatesChanged = await changedGates(job, work, ports.home)
  const facts: KeptAttempt = {
    ...kept,
    gatesChanged,
    runsLater: changedConfiguration(work, ports.home),
    changed: changes.map(({ path }) => path),
  }
  const inspected = await inspect(git, changes, ports.secrets, null)
  const paths = [...touched.map(({ path }) => path), ...corrected.keys()]
  const isRefused = job.gatesChanged.action === 'refuse' && gatesChanged.length > 0
  const problem =
    paths.length > 0
      ? `the worker ${worker} sent changes of task files: ${fewOf(paths)}`
      : isRefused
        ? `it changes what decides the gates: ${fewOf(gatesChanged)}`
        : (inspected.outcome?.reason ?? null)
  if (problem === null) return { kind: 'passed', candidate: facts, denied: end.denied }
  const refused = outcome('gate-failed', problem)
  const failed = await fail(job, { facts, tree: kept.tree, outcome: refused, denied: [] }, ports, emit)
  await setRef(git, ref, { from: kept.commit, to: null })
  return failed
}

/** A record that the worker has pushed; null if it is not this attempt's, or cannot be fetched. */
async function recordOf({ job, ports }: GivenJob, ref: string, remote: Remote): Promise<KeptAttempt | null> {
  if (ref !== attemptRef(job.task.id, job.attempt)) return null
  await remote.bring([ref])
  const records = await listRecords(ports.home.git, job.task.id)
  return records.find(({ number }) => number === job.attempt) ?? null
}
