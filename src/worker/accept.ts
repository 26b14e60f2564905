import { fail, type Failed, type Result } from '../attempt/attempt.ts'
import { decide } from '../attempt/decide.ts'
import { changedGates } from '../attempt/gate-files.ts'
import { taskChanges } from '../attempt/interference.ts'
import type { Job } from '../attempt/job.ts'
import { outcome, type Outcome } from '../attempt/outcome.ts'
import type { AttemptPorts, Emit } from '../attempt/ports.ts'
import { fewOf } from '../base/text.ts'
import type { Happening } from '../events/event.ts'
import { UNKNOWN_USAGE } from '../events/usage.ts'
import { attemptRef, candidateRef, type AttemptFacts, type KeptAttempt } from '../git/record.ts'
import { EMPTY_WORK, lostFacts } from '../run/candidates.ts'
import type { Inspect, Work } from '../workspace/port.ts'
import type { JobEnd } from './queue.ts'
import type { Remote } from './remote.ts'

/** What a run knows of a job that it has given to a worker. */
export interface GivenJob {
  readonly job: Job
  readonly ports: AttemptPorts
  readonly emit: Emit<Happening>
  /** When the job was given. */
  readonly begunAt: Date
}

/**
 * Turns a worker's report into the result of an attempt here. Nothing that it says about the work is trusted: the
 * commit is fetched and its tree put into the workspace here, where changes to task files and gate files are checked
 * again; and the gates run once more when it lands.
 */
export async function acceptReport(
  given: GivenJob,
  { worker, end }: { readonly worker: string; readonly end: Exclude<JobEnd, { kind: 'given-back' }> },
  remote: Remote,
): Promise<Result> {
  if (end.kind === 'passed') return acceptPassed(given, { worker, end }, remote)
  const { job, ports } = given
  const { until, ...reported } = end.outcome
  const isWorkersEnd =
    reported.kind === 'interrupted' && !ports.signal.aborted && !ports.control.skipped.aborted
  const ended: Outcome = isWorkersEnd
    ? outcome('lost', `the worker ${worker} was ended`)
    : { ...reported, until: until === null ? null : new Date(until) }
  const record = end.record === null ? null : await recordOf(given, end.record, remote)
  if (record) await takeTree(given, record)
  const work = record ? await ports.workspace.inspect.work(job.base) : await untouched(given)
  const facts = { outcome: ended, seconds: record?.seconds ?? 0, usage: end.usage }
  const unchanged = work.tree === (await begunTree(given))
  const decision = decide({ ...facts, unchanged }, { ...job.situation, now: ports.now() })
  return { kind: 'failed', outcome: ended, decision, record, work, usage: end.usage, session: null }
}

/** Records a lost attempt: the next one gets its own number and candidate. */
export async function recordLost({ job, ports, emit, begunAt }: GivenJob, reason: string): Promise<Failed> {
  const work = await ports.workspace.inspect.work(job.base)
  const seconds = Math.max(0, (ports.now().getTime() - begunAt.getTime()) / 1000)
  const lost = outcome('lost', reason)
  return fail(
    job,
    { facts: lostFacts(job, { reason, seconds }), work, outcome: lost, denied: [], early: null },
    ports,
    emit,
  )
}

/** The result of an attempt that was not made; nothing is recorded. */
export async function notMade(given: GivenJob, ended: Outcome): Promise<Failed> {
  const { job, ports } = given
  const usage = UNKNOWN_USAGE
  const facts = { outcome: ended, seconds: 0, usage, unchanged: true }
  const decision = decide(facts, { ...job.situation, now: ports.now() })
  return {
    kind: 'failed',
    outcome: ended,
    decision,
    record: null,
    work: await untouched(given),
    usage,
    session: null,
  }
}

async function acceptPassed(
  given: GivenJob,
  { worker, end }: { readonly worker: string; readonly end: Extract<JobEnd, { kind: 'passed' }> },
  remote: Remote,
): Promise<Result> {
  const { job, ports, emit } = given
  const { task, attempt, token, base } = job
  const { workspace } = ports
  const ref = candidateRef(task.id, attempt, token)
  if (end.candidate !== ref)
    return recordLost(given, `the worker ${worker} sent another candidate than was asked for`)
  await remote.bring([ref])
  const kept = (await workspace.record.candidates()).find((one) => one.ref === ref)
  if (kept?.base !== base.head)
    return recordLost(
      given,
      `the worker ${worker} sent a candidate that does not stand on the base of its job`,
    )
  const record = end.record === null ? null : await recordOf(given, end.record, remote)
  const unseen = await objections(given, kept, worker)
  if (unseen?.problem === null) {
    const { work, facts } = unseen
    return { kind: 'passed', candidate: { kept, facts, work, denied: end.denied }, record }
  }
  await takeTree(given, kept)
  const work = await workspace.inspect.work(base)
  const { problem, gatesChanged } = await objectionTo(given, work, worker)
  const facts = factsOf(kept, work, gatesChanged)
  if (problem !== null) {
    const refused = outcome('gate-failed', problem)
    const failed = await fail(job, { facts, work, outcome: refused, denied: [], early: record }, ports, emit)
    workspace.record.dropCandidate(kept)
    return failed
  }
  return { kind: 'passed', candidate: { kept, facts, work, denied: end.denied }, record }
}

/** The objections that the commit alone shows; null if file texts decide, which needs its tree. */
async function objections(
  given: GivenJob,
  kept: KeptAttempt,
  worker: string,
): Promise<(Judged & { readonly work: Work; readonly facts: AttemptFacts }) | null> {
  const { job, ports } = given
  const { workspace } = ports
  let isAsked = false
  const inspect: Inspect = {
    ...workspace.inspect,
    text() {
      isAsked = true
      return null
    },
  }
  const changes = await inspect.changes(job.base.head, kept.tree)
  const work: Work = { ...EMPTY_WORK, base: job.base, tree: kept.tree, changes }
  const blind = { ...given, ports: { ...ports, workspace: { ...workspace, inspect } } }
  const judged = await objectionTo(blind, work, worker)
  return isAsked ? null : { ...judged, work, facts: factsOf(kept, work, judged.gatesChanged) }
}

/** Why work that passed elsewhere may not land, and its changes to gate files. */
interface Judged {
  readonly problem: string | null
  readonly gatesChanged: readonly string[]
}

async function objectionTo({ job, ports }: GivenJob, work: Work, worker: string): Promise<Judged> {
  const { touched } = await taskChanges(job, work, ports)
  const gatesChanged = await changedGates(job, work, ports.workspace)
  const isRefused = job.gatesChanged.action === 'refuse' && gatesChanged.length > 0
  if (touched.length > 0)
    return { problem: `the worker ${worker} sent changes of task files: ${fewOf(touched)}`, gatesChanged }
  const problem = isRefused ? `it changes what decides the gates: ${fewOf(gatesChanged)}` : null
  return { problem, gatesChanged }
}

function factsOf(kept: KeptAttempt, { changes }: Work, gatesChanged: readonly string[]): AttemptFacts {
  return { ...kept, gatesChanged, changed: changes.map(({ path }) => path) }
}

/** A record that the worker has pushed; null if it is not this attempt's, or cannot be fetched. */
async function recordOf({ job, ports }: GivenJob, ref: string, remote: Remote): Promise<KeptAttempt | null> {
  if (ref !== attemptRef(job.task.id, job.attempt)) return null
  await remote.bring([ref])
  return ports.workspace.record.kept(job.task.id, job.attempt)
}

/** Brings the workspace here to the worker's tree: from there it continues as after an attempt here. */
async function takeTree({ job, ports }: GivenJob, { commit }: KeptAttempt): Promise<void> {
  const { inspect, restore } = ports.workspace
  const { tree } = await inspect.work(job.base)
  await restore.tree({ recorded: tree, to: commit })
}

/** The work of an attempt without a result. */
async function untouched(given: GivenJob): Promise<Work> {
  return { ...EMPTY_WORK, base: given.job.base, tree: await begunTree(given) }
}

async function begunTree({ job: { from, base }, ports }: GivenJob): Promise<string> {
  return from.kind === 'record' ? from.tree : ports.workspace.inspect.treeOf(base.head)
}
