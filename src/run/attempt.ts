import { join } from 'node:path'
import { denialsOf } from '../agent/denied.ts'
import type { AgentLimits, AgentOutcome, Usage } from '../agent/port.ts'
import type { Base } from '../git/restore.ts'
import type { TierChoice } from '../select/tier.ts'
import type { Task } from '../task/model.ts'
import { attemptMessage } from './attempt-record.ts'
import type { AttemptRecord } from './attempt-record.ts'
import { complete } from './completion.ts'
import type { Completed } from './completion.ts'
import { isIdle } from './decide.ts'
import type { Decision } from './decide.ts'
import type { Happening } from './events.ts'
import { changedSettings, readGitSettings, restoreSettings } from './git-settings.ts'
import type { GitSettings } from './git-settings.ts'
import { interferenceOf } from './interference.ts'
import type { Interference, TaskFolder } from './interference.ts'
import { changedGates } from './gate-files.ts'
import { judge } from './judge.ts'
import { listen } from './listen.ts'
import { outcomeOfEnd } from './outcome.ts'
import type { Outcome } from './outcome.ts'
import type { AgentChoice } from './ports.ts'
import { makeRunFolder } from './run-folder.ts'
import { guardRefs } from './refs.ts'
import type { Run } from './run.ts'
import type { Kept, Work } from './workspace.ts'

/** Everything that is decided before an attempt begins. */
export interface AttemptPlan {
  readonly task: Task
  readonly number: number
  readonly try: number
  readonly tries: number
  readonly base: Base
  readonly choice: AgentChoice
  readonly tier: TierChoice
  readonly limits: AgentLimits
  readonly env: Readonly<Record<string, string | undefined>>
  /** Relative to the root. */
  readonly log: string
  readonly script: string | null
  /** Every attempt at the task before this one, and those that count together with it. */
  readonly earlier: readonly AttemptRecord[]
  readonly series: readonly AttemptRecord[]
  /** The tree that the attempt begins from; null for the base's. */
  readonly startTree: string | null
  /** What follows, given how it ended and whether it changed anything. */
  readonly decide: (ended: Ended) => Decision
}

/** What a decision is made of. */
export interface Ended {
  readonly outcome: Outcome
  readonly seconds: number
  readonly usage: Usage
  /** Whether the tree is as it was when the attempt began. */
  readonly unchanged: boolean
}

export interface AttemptResult {
  readonly outcome: Outcome
  readonly decision: Decision
  readonly usage: Usage
  readonly seconds: number
  /** Where it is kept; null where all of it is in the task's commit, or nothing was worth keeping. */
  readonly kept: Kept | null
  readonly work: Work
  readonly completed: Completed | null
}

/** One attempt: the agent, our own look at what it did, and either the task's commit or a record of what failed. */
export async function* runAttempt(run: Run, plan: AttemptPlan): AsyncGenerator<Happening, AttemptResult> {
  const { ports } = run
  const { base } = plan
  const startedAt = ports.now()
  begin(run, plan)
  ports.checkpoint('attempt-noted')
  yield attemptStarted(plan)
  const settings = readGitSettings(ports.repository)
  const stamp = ports.workspace.refsStamp()
  const agent = yield* listen(run, plan)
  // An agent may have cleaned the whole tree; without its .gitignore the folder would become work.
  makeRunFolder(ports.folder)
  run.flight.update({ usage: agent.usage })
  ports.checkpoint('agent-ended')
  yield* guardSettings(run, plan, settings)
  for (const interference of await guardRefs(run, { branch: base.branch, stamp }))
    yield interfered(plan, interference)

  const seconds = (): number => secondsSince(startedAt, ports.now())
  const attempt = { run, plan, agent, seconds, undone: [], work: await ports.workspace.inspect(base) }
  const { early, work, undone } = yield* takeBack(attempt)
  const tasks = taskFolder(run)
  const outcome = yield* judge(run, plan, { said: outcomeOfEnd(agent.end), work, tasks })
  const gatesChanged = await changedGates(run, plan, work)
  if (gatesChanged.length > 0) yield interfered(plan, { kind: 'gates-changed', paths: gatesChanged })
  if (outcome.kind !== 'done') return yield* failed({ ...attempt, work, undone }, outcome, early)
  const completion = yield* complete(run, {
    plan,
    agent,
    gatesChanged,
    seconds: seconds(),
    work,
  })
  if (completion.kind !== 'completed')
    return yield* failed({ ...attempt, work, undone }, completion.outcome, early)
  run.flight.spend(agent.usage.costUsd)
  yield finished(attempt, outcome, early)
  const decision = { kind: 'complete' } as const
  return {
    outcome,
    decision,
    usage: agent.usage,
    seconds: seconds(),
    kept: early,
    work,
    completed: completion,
  }
}

/** One attempt, after its agent has ended. */
interface Attempt {
  readonly run: Run
  readonly plan: AttemptPlan
  readonly agent: AgentOutcome
  readonly work: Work
  readonly undone: readonly Interference[]
  readonly seconds: () => number
}

function begin({ flight, ports }: Run, plan: AttemptPlan): void {
  flight.begin({
    task: plan.task.id,
    title: plan.task.title,
    file: plan.task.file,
    number: plan.number,
    try: plan.try,
    tries: plan.tries,
    base: plan.base,
    phase: 'working',
    agent: plan.choice.label,
    model: plan.choice.model,
    tier: plan.tier.tier,
    usage: { turns: null, inputTokens: null, cachedTokens: null, outputTokens: null, costUsd: null },
    startedAt: ports.now().toISOString(),
    log: plan.log,
    reason: null,
    keptRef: null,
    prefix: null,
  })
}

function attemptStarted(plan: AttemptPlan): Happening {
  return {
    type: 'attempt-started',
    id: plan.task.id,
    attempt: plan.number,
    try: plan.try,
    tries: plan.tries,
    agent: plan.choice.label,
    model: plan.choice.model,
    log: plan.log,
  }
}

/** git's configuration and hooks are no part of any work: what the agent did to them is kept beside the log and undone. */
async function* guardSettings(
  run: Run,
  plan: AttemptPlan,
  before: GitSettings,
): AsyncGenerator<Happening, void> {
  const changed = changedSettings(before, readGitSettings(run.ports.repository))
  if (changed.length === 0) return
  const keptIn = join(run.ports.folder.results, `${plan.task.id}-${plan.number}-git-settings`)
  restoreSettings(changed, before, keptIn)
  run.ports.checkpoint('settings-restored')
  yield interfered(plan, { kind: 'git-settings', paths: changed, keptIn })
}

/**
 * Takes back what breaks a promise: what the agent did to HEAD, to the branch and to task files. All of it is
 * recorded first. It comes before our own look at the work, so that the gates see what would be committed.
 */
async function* takeBack(attempt: Attempt): AsyncGenerator<Happening, TakenBack> {
  const { run, plan, agent, work } = attempt
  const { workspace } = run.ports
  const found = interferenceOf(work, taskFolder(run))
  for (const interference of found) yield interfered(plan, interference)
  if (found.every(({ kind }) => kind === 'nested-repository')) return { early: null, work, undone: [] }
  const early = await record({ ...attempt, undone: found }, outcomeOfEnd(agent.end))
  const lost = await workspace.lostByGoingBack(plan.base, work, early.tree)
  if (lost.length > 0) yield interfered(plan, { kind: 'went-back', paths: lost })
  if (work.head || work.operations.length > 0) {
    await workspace.fold(plan.base, work)
    run.ports.checkpoint('head-folded')
  }
  const touched = found.flatMap((one) => (one.kind === 'task-files' ? one.paths : []))
  await workspace.restoreFiles(plan.base, [...touched, ...lost])
  run.ports.checkpoint('files-restored')
  return { early, work: await workspace.inspect(plan.base), undone: found }
}

interface TakenBack {
  /** Where all of it is recorded; null where there was nothing to take back. */
  readonly early: Kept | null
  readonly work: Work
  readonly undone: readonly Interference[]
}

/** Keeps what is there, and says how it ended. */
async function* failed(
  attempt: Attempt,
  outcome: Outcome,
  earlier: Kept | null,
): AsyncGenerator<Happening, AttemptResult> {
  const { run, plan, agent, work } = attempt
  const tree = await run.ports.workspace.snapshot(work)
  run.ports.checkpoint('attempt-snapshot')
  const startTree = plan.startTree ?? (await run.ports.workspace.treeOf(plan.base.head))
  const ended = { outcome, seconds: attempt.seconds(), usage: agent.usage, unchanged: tree === startTree }
  const decision = plan.decide(ended)
  // A limit that holds for hours would otherwise leave a record for each time that somebody knocked.
  // Nor does a model that is not there use up the task's tries.
  const isNobodysTry = decision.kind === 'wait' || outcome.hopeless === 'run'
  const worthKeeping = !ended.unchanged || !isNobodysTry || (agent.usage.costUsd ?? 0) > 0
  const final = decision.kind === 'give-up'
  const kept = worthKeeping
    ? await record(attempt, outcome, { final, idle: isIdle(ended), tree, earlier })
    : earlier
  run.flight.spend(agent.usage.costUsd)
  yield finished(attempt, outcome, kept)
  return { ...ended, decision, kept, work, completed: null }
}

async function record(
  attempt: Attempt,
  outcome: Outcome,
  more: { final?: boolean; idle?: boolean; tree?: string; earlier?: Kept | null } = {},
): Promise<Kept> {
  const { run, plan, agent, work } = attempt
  const { workspace } = run.ports
  const tree = more.tree ?? (await workspace.snapshot(work))
  const facts = {
    task: plan.task.id,
    number: plan.number,
    outcome: outcome.kind,
    reason: outcome.reason,
    detail: outcome.detail,
    fingerprint: outcome.fingerprint,
    base: plan.base.head,
    try: plan.try,
    tries: plan.tries,
    final: more.final ?? false,
    idle: more.idle ?? false,
    agent: plan.choice.label,
    model: agent.model ?? plan.choice.model,
    tier: plan.tier.tier,
    usage: agent.usage,
    seconds: attempt.seconds(),
    log: plan.log,
    undone: attempt.undone.map(told),
    changed: work.changes.map((change) => change.path),
  }
  const kept = await workspace.keep({
    task: plan.task.id,
    number: plan.number,
    tree,
    base: plan.base,
    work,
    message: attemptMessage(facts),
    replaces: more.earlier ?? null,
  })
  run.flight.update({ phase: 'kept', keptRef: kept.ref })
  run.refs = new Map([...run.refs, [kept.ref, kept.commit]])
  const records = (run.attempts.get(plan.task.id) ?? []).filter((other) => other.number !== plan.number)
  const keptAt = Math.floor(run.ports.now().getTime() / 1000)
  run.attempts.set(plan.task.id, [...records, { ...facts, ref: kept.ref, commit: kept.commit, tree, keptAt }])
  run.ports.checkpoint('attempt-kept')
  return kept
}

function told(interference: Interference): string {
  switch (interference.kind) {
    case 'commits':
      return `commits: ${interference.commits.join(', ')}`
    case 'operation':
      return `operation: ${interference.operation}`
    case 'branch':
      return 'branch'
    case 'refs-deleted':
    case 'refs-moved':
    case 'refs-made':
      return `${interference.kind}: ${interference.refs.join(', ')}`
    default:
      return `${interference.kind}: ${interference.paths.join(', ')}`
  }
}

function interfered(plan: AttemptPlan, interference: Interference): Happening {
  return { type: 'interference', id: plan.task.id, interference }
}

function finished(attempt: Attempt, outcome: Outcome, kept: Kept | null): Happening {
  return {
    type: 'attempt-finished',
    id: attempt.plan.task.id,
    attempt: attempt.plan.number,
    try: attempt.plan.try,
    outcome: outcome.kind,
    reason: outcome.reason,
    detail: outcome.detail,
    seconds: attempt.seconds(),
    usage: attempt.agent.usage,
    denied: denialsOf(attempt.agent.denied),
    ref: kept?.ref ?? null,
  }
}

function taskFolder({ ports }: Run): TaskFolder {
  return {
    folder: `${ports.workspace.prefix}${ports.source.dir}/`,
    files: new Map(ports.source.tasks().map((task) => [task.number, task.file])),
  }
}

function secondsSince(start: Date, now: Date): number {
  return Math.max(0, (now.getTime() - start.getTime()) / 1000)
}
