import { denialsOf } from '../agent/denied.ts'
import type { AgentOutcome } from '../agent/port.ts'
import type { Denial } from '../events/denial.ts'
import type { Happening } from '../events/event.ts'
import type { Interference } from '../events/interference.ts'
import type { Usage } from '../events/usage.ts'
import type { AttemptFacts, KeptAttempt } from '../git/record.ts'
import { checkedIn } from '../task/criteria.ts'
import type { Work } from '../workspace/port.ts'
import { decide, isIdle, type Decision } from './decide.ts'
import { changedGates } from './gate-files.ts'
import { interferenceIn, interferenceLine, isOnlyReported, taskChanges } from './interference.ts'
import { logOf, type Job } from './job.ts'
import { judge } from './judge.ts'
import { outcomeOfEnd, type Outcome } from './outcome.ts'
import type { AttemptPorts, Emit } from './ports.ts'
import { driveAgent } from './by-hand.ts'
import { runAgent, type AgentRun } from './run-agent.ts'
import { NO_SIGNALS, type Signals } from './signals.ts'
import { changedConfiguration, noteConfiguration } from './runs-later.ts'

/** How an attempt ended. */
export type Result = Passed | Failed

/** The gates passed: the work waits to land. */
export interface Passed {
  readonly kind: 'passed'
  readonly candidate: Candidate
  /** The record of what the agent did that it may not do, from before that was undone; null if there was none. */
  readonly record: KeptAttempt | null
}

/** Work that passed, on its ref, and all that its landing needs. */
export interface Candidate {
  readonly kept: KeptAttempt
  readonly facts: AttemptFacts
  readonly work: Work
  readonly denied: readonly Denial[]
}

export interface Failed {
  readonly kind: 'failed'
  readonly outcome: Outcome
  readonly decision: Decision
  /** Null if nothing was worth keeping. */
  readonly record: KeptAttempt | null
  /** The state of the workspace now. */
  readonly work: Work
  readonly usage: Usage
  /** The id of the agent's conversation, with which it can be continued; null if the agent did not report one. */
  readonly session: string | null
}

/**
 * Makes one attempt at a job: runs the agent, inspects its work, runs the gates. It does not depend on its caller:
 * work that passes becomes a candidate, work that fails a record, and only the workspace changes.
 */
export async function attempt(job: Job, ports: AttemptPorts, report: Emit<Happening>): Promise<Result> {
  await ports.control.unpaused()
  const caged = new Set<string>()
  const emit: Emit<Happening> = (event) => {
    if (event.type === 'caged') caged.add(`${event.action} ${event.target}`)
    report(event)
  }
  const startedAt = ports.now()
  emit(attemptStarted(job))
  const guard = await ports.workspace.restore.guard()
  const configuration = noteConfiguration(ports.workspace)
  const { outcome: agent, reported: signals, isTakenOver = false } = await runOrDrive(job, ports, emit)
  ports.checkpoint('agent-ended')
  const { task, base } = job
  const keepIn = ports.logs.result(`${task.id}-${job.attempt}-git`)
  const ofGit = await guard.release({ task: task.id, branch: base.branch, keepIn })
  for (const interference of ofGit) emit(interfered(job, interference))
  ports.checkpoint('settings-restored')
  const made: Made = { job, agent, signals, startedAt, ofGit, caged }
  const undone = await undo(made, ports, emit)
  const gatesChanged = await changedGates(job, undone.work, ports.workspace)
  if (gatesChanged.length > 0) emit(interfered(job, { kind: 'gates-changed', paths: gatesChanged }))
  const runsLater = changedConfiguration(configuration, undone.work, ports.workspace)
  if (runsLater.length > 0) emit(interfered(job, { kind: 'runs-later', paths: runsLater }))
  const end = endOf(agent, isTakenOver, ports)
  const verdict = await judge(job, { end, work: undone.work, gatesChanged }, ports, emit)
  const facts = factsOf(made, {
    undone: [...ofGit, ...undone.undone],
    work: verdict.work,
    gates: job.gates.length === 0 ? [] : verdict.passed,
    gatesChanged,
    runsLater,
    ports,
  })
  const attempted = {
    facts,
    work: verdict.work,
    early: undone.early,
    denied: denialsOf(agent.denied),
    session: agent.sessionId,
  }
  if (verdict.outcome) return fail(job, { ...attempted, outcome: verdict.outcome }, ports, emit)
  return pass(job, attempted, ports, emit)
}

/** What is known once the agent has ended. */
interface Made {
  readonly job: Job
  readonly agent: AgentOutcome
  /** What it reported with its tools. */
  readonly signals: Signals
  readonly startedAt: Date
  readonly ofGit: readonly Interference[]
  /** What the sandbox has refused so far. */
  readonly caged: ReadonlySet<string>
}

function attemptStarted(job: Job): Happening {
  const { task, attempt: number, situation, agent } = job
  return {
    type: 'attempt-started',
    id: task.id,
    attempt: number,
    counted: situation.counted,
    most: situation.most,
    agent: agent.label,
    model: agent.model,
    log: logOf(job),
  }
}

/** The agent of a job, or a person who drives it. */
async function runOrDrive(job: Job, ports: AttemptPorts, emit: Emit<Happening>): Promise<AgentRun> {
  if (job.byHand === null) return runAgent(job, ports, emit)
  return { outcome: await driveAgent(job, ports, emit), reported: NO_SIGNALS }
}

function endOf({ end }: AgentOutcome, isTakenOver: boolean, { control, signal }: AttemptPorts): Outcome {
  if (end.kind !== 'interrupted' || signal.aborted) return outcomeOfEnd(end)
  if (control.skipped.aborted) return outcomeOfEnd({ kind: 'skipped' })
  return outcomeOfEnd(isTakenOver ? { kind: 'taken-over' } : end)
}

function interfered(job: Job, interference: Interference): Happening {
  return { type: 'interference', id: job.task.id, interference }
}

/**
 * Undoes what breaks a promise: what the agent did to HEAD, to the branch and to task files. All of it is recorded
 * first. It comes before the work is inspected, so that the gates check the tree that would be committed.
 */
async function undo(
  made: Made,
  ports: AttemptPorts,
  emit: Emit<Happening>,
  earlier: KeptAttempt | null = null,
): Promise<{
  /** Where all of it is recorded; null if there was nothing to undo. */
  readonly early: KeptAttempt | null
  readonly work: Work
  readonly undone: readonly Interference[]
}> {
  const { job, agent, ofGit } = made
  const { inspect, record, restore } = ports.workspace
  const work = await inspect.work(job.base)
  if (work.persons.length > 0)
    emit({ type: 'warning', message: 'you committed while the agent worked: the task lands on top of it' })
  const tasks = await taskChanges(job, work, ports)
  const found = interferenceIn(work, tasks)
  for (const interference of found) emit(interfered(job, interference))
  if (found.every(isOnlyReported)) return { early: earlier, work, undone: [] }
  const outcome = outcomeOfEnd(agent.end)
  const facts = factsOf(made, {
    undone: [...ofGit, ...found],
    work,
    gates: null,
    gatesChanged: [],
    runsLater: [],
    ports,
  })
  const early = await record.keep({
    facts: { ...facts, ...failureOf(outcome) },
    work,
    at: ports.now(),
    replaces: earlier,
  })
  ports.checkpoint('attempt-kept')
  const lost = await restore.lostByGoingBack(work.base, work)
  if (lost.length > 0) emit(interfered(job, { kind: 'went-back', paths: lost }))
  if (!(await restore.head(work.base, work))) return undo(made, ports, emit, early)
  ports.checkpoint('head-restored')
  const below = tasks.touched.filter((path) => work.below.includes(path))
  await restore.files(work.base, [...tasks.touched.filter((path) => !below.includes(path)), ...lost])
  await restore.files(job.base, below)
  ports.checkpoint('files-restored')
  return { early, work: await inspect.work(work.base), undone: found }
}

function factsOf(
  { job, agent, signals, startedAt, caged }: Made,
  more: {
    readonly undone: readonly Interference[]
    readonly work: Work
    readonly gates: readonly string[] | null
    readonly gatesChanged: readonly string[]
    readonly runsLater: readonly string[]
    readonly ports: AttemptPorts
  },
): AttemptFacts {
  return {
    task: job.task.id,
    number: job.attempt,
    outcome: 'done',
    reason: '',
    detail: agent.finalMessage.replaceAll('\0', ''),
    fingerprint: '',
    base: more.work.base.head,
    counted: job.situation.counted,
    most: job.situation.most,
    final: false,
    idle: false,
    agent: job.byHand === null ? job.agent.label : `${job.agent.label}, by hand`,
    model: agent.model ?? job.agent.model,
    tier: job.tier,
    usage: agent.usage,
    seconds: Math.max(0, (more.ports.now().getTime() - startedAt.getTime()) / 1000 - signals.heldSeconds),
    log: logOf(job),
    gates: more.gates,
    gatesChanged: more.gatesChanged,
    runsLater: more.runsLater,
    criteriaMet: signals.done?.criteria_met ?? checkedIn(agent.finalMessage),
    undone: more.undone.map(interferenceLine),
    caged: [...caged],
    changed: more.work.changes.map(({ path }) => path),
  }
}

function failureOf({ kind, reason, detail, fingerprint }: Outcome): Partial<AttemptFacts> {
  return { outcome: kind, reason, detail, fingerprint }
}

/** Keeps work that passed on a ref until it has landed. */
async function pass(
  job: Job,
  passed: Omit<Candidate, 'kept'> & { readonly early: KeptAttempt | null },
  ports: AttemptPorts,
  emit: Emit<Happening>,
): Promise<Passed> {
  const { facts, work, early, denied } = passed
  const kept = await ports.workspace.record.candidate({ facts, work, at: ports.now(), token: job.token })
  ports.checkpoint('candidate-kept')
  emit({ type: 'candidate-ready', id: job.task.id, attempt: job.attempt, ref: kept.ref })
  return { kind: 'passed', candidate: { kept, facts, work, denied }, record: early }
}

/** A failed attempt, before its record is made. */
interface Failing {
  readonly facts: AttemptFacts
  readonly work: Work
  readonly outcome: Outcome
  readonly denied: readonly Denial[]
  /** An earlier record of this attempt. */
  readonly early: KeptAttempt | null
  /** More commits to keep with its record. */
  readonly commits?: readonly string[]
  readonly session?: string | null
}

/** Keeps a failed attempt and returns how it ended; also for work that passed and then could not land. */
export async function fail(
  job: Job,
  { facts, work, outcome, denied, early, commits = [], session = null }: Failing,
  ports: AttemptPorts,
  emit: Emit<Happening>,
): Promise<Failed> {
  const { inspect, record } = ports.workspace
  const begun = job.from.kind === 'record' ? job.from.tree : await inspect.treeOf(work.base.head)
  const { usage, seconds } = facts
  const ended = { outcome, seconds, usage, unchanged: work.tree === begun }
  const decision = decide(ended, { ...job.situation, now: ports.now() })
  // A limit that lasts for hours would otherwise leave a record for each new request. Nor does a missing model use up
  // the task's attempts.
  const isNobodysFault = decision.kind === 'wait' || outcome.hopeless === 'run'
  const isWorthKeeping = !ended.unchanged || !isNobodysFault || (usage.costUsd ?? 0) > 0
  const kept = !isWorthKeeping
    ? early
    : await record.keep({
        facts: {
          ...facts,
          ...failureOf(outcome),
          gates: null,
          final: decision.kind === 'give-up',
          idle: isIdle(ended),
          changed: work.changes.map(({ path }) => path),
        },
        work,
        at: ports.now(),
        replaces: early,
        commits,
      })
  if (isWorthKeeping) ports.checkpoint('attempt-kept')
  emit(attemptFinished(facts, outcome, { denied, ref: kept?.ref ?? null }))
  return { kind: 'failed', outcome, decision, record: kept, work, usage, session }
}

/** The event for the end of an attempt. */
export function attemptFinished(
  {
    task,
    number,
    counted,
    seconds,
    usage,
  }: Pick<AttemptFacts, 'task' | 'number' | 'counted' | 'seconds' | 'usage'>,
  { kind, reason, detail }: Outcome,
  { denied, ref }: { readonly denied: readonly Denial[]; readonly ref: string | null },
): Happening {
  return {
    type: 'attempt-finished',
    id: task,
    attempt: number,
    counted,
    outcome: kind,
    reason,
    detail,
    seconds,
    usage,
    denied,
    ref,
  }
}
