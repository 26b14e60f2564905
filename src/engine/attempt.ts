import { denialsOf } from '../agents/providers/request.ts'
import type { AgentOutcome } from '../agents/port.ts'
import type { Denial, Usage } from '../base/nouns.ts'
import { addUsage, UNKNOWN_USAGE } from '../base/usage.ts'
import { whyText } from '../prompt/go-on.ts'
import type { Happening, Interference } from './events/event.ts'
import type { Git } from '../git/git.ts'
import { storeText } from '../git/made-commit.ts'
import { rawChanges } from '../git/raw-changes.ts'
import {
  attemptMessage,
  attemptRef,
  candidateRef,
  keepCommit,
  type AttemptFacts,
  type KeptAttempt,
} from '../git/record.ts'
import { treeOf } from '../git/tree.ts'
import { checkedIn } from '../backlog/criteria.ts'
import { decide, type Decision } from './decide.ts'
import { changedGates } from './gate-files.ts'
import { interferenceIn, interferenceLine, taskChanges } from './interference.ts'
import { logOf, type Job } from './job.ts'
import type { Resumable } from './prepare.ts'
import type { OutcomeKind } from '../base/names.ts'
import { failedIn, flakyIn } from './check.ts'
import { judge } from './judge.ts'
import { outcomeOfEnd, type Outcome } from './outcome.ts'
import type { AttemptPorts, Emit, RunPorts } from './ports.ts'
import { askMore, driveAgent, runAgent, usedBy, type AgentRun } from './run-agent.ts'
import { changedConfiguration } from './trust.ts'
import { blank } from './secrets.ts'
import { NO_SIGNALS, type Signals } from '../agents/signals.ts'
import type { Work } from './slot/slot.ts'

/** How an attempt ended. */
export type Result = Passed | Failed

/** The gates passed: the work waits to land. */
export interface Passed {
  readonly kind: 'passed'
  readonly candidate: KeptAttempt
  readonly denied: readonly Denial[]
}

export interface Failed {
  readonly kind: 'failed'
  readonly outcome: Outcome
  readonly decision: Decision
  /** Null if nothing was worth keeping. */
  readonly record: KeptAttempt | null
  /** The tree of the work folder now. */
  readonly tree: string
  readonly usage: Usage
  /** The id of the agent's conversation, with which it can be continued; null if the agent did not report one. */
  readonly session: string | null
  /** The conversation that the next attempt goes on with; null if it begins a new one. */
  readonly resume: Resumable | null
}

/**
 * Makes one attempt at a job, in a slot whose work folder is ready: runs the agent, takes its work, runs the gates on
 * exactly that. Work that passes becomes a candidate, work that fails a record; nothing else changes.
 */
export async function attempt(job: Job, ports: AttemptPorts, report: Emit<Happening>): Promise<Result> {
  const { slot, home } = ports
  await ports.control.unpaused()
  const caged = new Set<string>()
  const emit: Emit<Happening> = (event) => {
    if (event.type === 'caged') caged.add(`${event.action} ${event.target}`)
    report(event)
  }
  const startedAt = ports.now()
  emit(attemptStarted(job))
  await slot.lendGit(job.base, `${job.task.id}-${job.attempt}`)
  const { outcome: agent, reported: signals, trace, isTakenOver = false } = await runOrDrive(job, ports, emit)
  ports.checkpoint('agent-ended')
  const { work, found } = await workOf(job, signals, ports)
  ports.checkpoint('work-taken')
  const gatesChanged = await changedGates(job, work, home)
  const runsLater = changedConfiguration(work, home)
  const noticed: readonly Interference[] = [
    ...found,
    ...(gatesChanged.length > 0 ? [{ kind: 'gates-changed', paths: gatesChanged } as const] : []),
    ...(runsLater.length > 0 ? [{ kind: 'runs-later', paths: runsLater } as const] : []),
  ]
  for (const interference of noticed) emit({ type: 'interference', id: job.task.id, interference })
  const end = withTrace(endOf(job, agent, isTakenOver, ports), trace)
  const reasons = [...(signals.done?.tests_changed ?? []), ...agent.finalMessage.split('\n')]
  let asked = UNKNOWN_USAGE
  const askWhy = async (changes: readonly string[]): Promise<string> => {
    const answer = await askMore(job, agent, whyText(changes), { ports, emit })
    if (answer) asked = answer.usage
    return answer?.finalMessage ?? ''
  }
  const verdict = await judge(job, { end, work, gatesChanged, reasons, askWhy }, ports, emit)
  const facts: AttemptFacts = {
    ...factsOf(job, { agent, signals }, ports.secrets.values),
    slot: slot.number,
    unsaid: end.kind === 'no-marker',
    seconds: Math.max(0, (ports.now().getTime() - startedAt.getTime()) / 1000 - signals.heldSeconds),
    gates: job.gates.length === 0 ? [] : verdict.passed,
    gatesFailed: failedIn(verdict),
    flaky: flakyIn(verdict.results),
    gatesChanged,
    testsChanged: verdict.testimony.testsChanged,
    witness: verdict.testimony.words,
    tests: verdict.testimony.tests,
    noticed: verdict.inspected.noticed,
    reviewed: verdict.reviewed.words,
    findings: verdict.reviewed.findings,
    usage: [asked, verdict.reviewed.usage].reduce(addUsage, agent.usage),
    runsLater,
    undone: found.map(interferenceLine),
    caged: [...caged],
    changed: work.changes.map(({ path }) => path),
  }
  slot.forgetGits()
  const denied = denialsOf(agent.denied, job.agent.permission)
  if (!verdict.outcome) return pass(job, { facts, tree: verdict.tree, denied }, ports, emit)
  const { outcome, inspected } = verdict
  const tree = inspected.blanked.size > 0 ? await slot.work.folder.amend(inspected.blanked) : work.tree
  return fail(job, { facts, tree, outcome, denied, session: agent.sessionId }, ports, emit)
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
  return { outcome: await driveAgent(job, ports, emit), reported: NO_SIGNALS, trace: '' }
}

/** Ends after which the next attempt needs to know what the agent was at. */
const IN_THE_MIDDLE: ReadonlySet<OutcomeKind> = new Set(['no-marker', 'timeout', 'max-turns', 'agent-failed'])

function withTrace(end: Outcome, trace: string): Outcome {
  return end.detail === '' && IN_THE_MIDDLE.has(end.kind) ? { ...end, detail: trace } : end
}

function endOf(
  { task }: Job,
  { end }: AgentOutcome,
  isTakenOver: boolean,
  { control }: AttemptPorts,
): Outcome {
  if (end.kind !== 'interrupted' || control.signal.aborted) return outcomeOfEnd(end)
  if (control.skipped(task.id).aborted) return outcomeOfEnd({ kind: 'skipped' })
  return outcomeOfEnd(isTakenOver ? { kind: 'taken-over' } : end)
}

/** The agent's work: without what it did to task files, which are its author's, and with the tasks that it added. */
async function workOf(
  job: Job,
  { added }: Signals,
  ports: AttemptPorts,
): Promise<{ readonly work: Work; readonly found: readonly Interference[] }> {
  const { slot, home } = ports
  const taken = await slot.take(job.base.head)
  const tasks = await taskChanges(job, taken, ports)
  const found = interferenceIn(taken, tasks, slot.commitsOfAgent())
  const texts = [
    ...added.map(({ file, text }) => [`${home.prefix}${file}`, text] as const),
    ...tasks.corrected,
  ]
  const drafts = await Promise.all(
    texts.map(
      async ([path, text]) => [path, { mode: '100644', hash: await storeText(home.git, text) }] as const,
    ),
  )
  const back = tasks.touched.map(({ path, kind, was }) => [path, kind === 'new' ? null : was] as const)
  if (back.length + drafts.length === 0) return { work: taken, found }
  const tree = await slot.work.folder.amend(new Map([...back, ...drafts]))
  return { work: { ...taken, tree, changes: await rawChanges(home.git, job.base.head, tree) }, found }
}

/** What is known of an attempt from its job, its agent and the agent's signals. */
function factsOf(
  job: Job,
  { agent, signals }: { agent: AgentOutcome; signals: Signals },
  secrets: readonly string[],
): AttemptFacts {
  return {
    ...factsOfJob(job),
    outcome: 'done',
    detail: blank(agent.finalMessage.replaceAll('\0', ''), secrets),
    agent: job.byHand === null ? job.agent.label : `${job.agent.label}, by hand`,
    model: agent.model ?? job.agent.model,
    session: agent.sessionId,
    usage: agent.usage,
    idle: agent.toolCalls === 0 && !agent.usage.outputTokens,
    criteriaMet: signals.done?.criteria_met ?? checkedIn(agent.finalMessage),
    assumed: signals.assumed,
  }
}

/** What is known of an attempt before it begins. */
export function factsOfJob({
  task,
  attempt: number,
  situation,
  agent,
  tier,
  base,
  ...job
}: Job): AttemptFacts {
  return {
    ...NOTHING_YET,
    task: task.id,
    number,
    base: base.head,
    counted: situation.counted,
    most: situation.most,
    agent: agent.label,
    model: agent.model,
    tier,
    log: logOf({ task, attempt: number, ...job }),
  }
}

/** The facts of an attempt of which nothing is known. */
export const NOTHING_YET = {
  outcome: 'lost',
  session: null,
  slot: null,
  reason: '',
  detail: '',
  fingerprint: '',
  final: false,
  idle: false,
  unsaid: false,
  usage: { turns: null, inputTokens: null, cachedTokens: null, outputTokens: null, costUsd: null },
  seconds: 0,
  gates: null,
  gatesFailed: [],
  flaky: [],
  gatesChanged: [],
  testsChanged: [],
  witness: null,
  tests: null,
  noticed: [],
  reviewed: [],
  findings: [],
  runsLater: [],
  criteriaMet: [],
  assumed: [],
  undone: [],
  caged: [],
  changed: [],
} as const satisfies Partial<AttemptFacts>

/** Keeps work that passed on a ref until it has landed. */
async function pass(
  job: Job,
  { facts, tree, denied }: { facts: AttemptFacts; tree: string; denied: readonly Denial[] },
  ports: AttemptPorts,
  emit: Emit<Happening>,
): Promise<Passed> {
  const ref = candidateRef(facts.task, facts.number, job.token)
  const candidate = await keep(ports, facts, { ref, tree })
  ports.checkpoint('candidate-kept')
  emit({ type: 'candidate-ready', id: job.task.id, attempt: job.attempt, ref })
  return { kind: 'passed', candidate, denied }
}

/** A failed attempt, before its record is made. */
interface Failing {
  readonly facts: AttemptFacts
  readonly tree: string
  readonly outcome: Outcome
  readonly denied: readonly Denial[]
  readonly session?: string | null
}

/** Keeps a failed attempt and returns how it ended; also for work that passed and then could not land. */
export async function fail(
  job: Job,
  { facts, tree, outcome, denied, session = null }: Failing,
  ports: Pick<AttemptPorts, 'home' | 'now' | 'checkpoint'>,
  emit: Emit<Happening>,
): Promise<Failed> {
  const begun = await begunTree(job, ports.home.git)
  const { usage } = facts
  const isUnchanged = tree === begun
  const idle = facts.idle && isUnchanged
  // Its conversation is gone: that is no attempt at the task.
  const isGone = job.resume !== null && idle && outcome.kind === 'agent-failed'
  const decision: Decision = isGone
    ? { kind: 'retry', pauseSeconds: 0 }
    : decide({ outcome, usage, idle }, { ...job.situation, now: ports.now() })
  // A limit that lasts for hours would otherwise leave a record for each new request. Nor does a missing model use up
  // the task's attempts.
  const isNobodysFault = decision.kind === 'wait' || isGone
  const isWorthKeeping = !isUnchanged || !isNobodysFault || (usage.costUsd ?? 0) > 0
  const { kind, reason, detail, fingerprint } = outcome
  const failed: AttemptFacts = {
    ...facts,
    outcome: kind,
    reason,
    detail,
    fingerprint,
    gates: null,
    final: decision.kind === 'give-up',
    idle,
  }
  const ref = attemptRef(facts.task, facts.number)
  const record = isWorthKeeping ? await keep(ports, failed, { ref, tree }) : null
  if (record) ports.checkpoint('attempt-kept')
  emit(attemptFinished(facts, outcome, { denied, ref: record?.ref ?? null }))
  const goesOn = decision.kind === 'wait' && session !== null && (!idle || job.resume !== null)
  const resume = goesOn ? { agent: job.agent.name, session, reason, used: usedBy(job, usage) } : null
  return { kind: 'failed', outcome, decision, record, tree, usage, session, resume }
}

/** Keeps a tree as the commit of an attempt, on a ref. */
export async function keep(
  { home, now }: Pick<RunPorts, 'home' | 'now'>,
  facts: AttemptFacts,
  {
    ref,
    tree,
    replaces = null,
    more = [],
  }: {
    ref: string
    tree: string
    /** The commit that the ref names now. */
    replaces?: string | null
    /** More commits to keep with it. */
    more?: readonly string[]
  },
): Promise<KeptAttempt> {
  const parents = [...new Set([facts.base, ...(replaces === null ? [] : [replaces]), ...more])]
  const message = attemptMessage(facts)
  const commit = await keepCommit(home.git, { ref, tree, message, parents, replaces })
  return { ...facts, ref, commit, parents, tree, keptAt: Math.floor(now().getTime() / 1000) }
}

/** The tree that an attempt begins with. */
export async function begunTree({ from, base }: Pick<Job, 'from' | 'base'>, git: Git): Promise<string> {
  return from.kind === 'record' ? from.tree : treeOf(git, base.head)
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
  { denied, ref }: { denied: readonly Denial[]; ref: string | null },
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
