import { denialsOf } from '../agent/denied.ts'
import { UNKNOWN_USAGE } from '../events/usage.ts'
import type { AttemptPlan } from './job.ts'
import { complete } from '../landing/land.ts'
import type { Completed } from '../landing/land.ts'
import { isIdle } from './decide.ts'
import type { Decision } from './decide.ts'
import type { Happening } from '../events/event.ts'
import { changedGates } from './gate-files.ts'
import { readGitSettings } from '../workspace/settings.ts'
import { judge, lookAfterGates } from './judge.ts'
import { keepRecord } from './keep-record.ts'
import type { Attempt } from './keep-record.ts'
import { listen } from './listen.ts'
import { outcomeOfEnd } from './outcome.ts'
import type { Outcome } from './outcome.ts'
import { guardRefs } from '../workspace/refs.ts'
import { makeRunFolder } from '../run/run-folder.ts'
import type { Run } from '../run/run.ts'
import { guardSettings, interfered, takeBack, taskFolder } from './take-back.ts'
import type { Kept } from '../workspace/workspace.ts'

/** How an attempt ended, and what follows. */
export interface AttemptResult {
  readonly outcome: Outcome
  readonly decision: Decision
  /** Where it is kept; null where all of it is in the task's commit, or nothing was worth keeping. */
  readonly kept: Kept | null
  /** The task's commit, where it came to that. */
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
  for (const interference of await guardRefs(run, { task: plan.task.id, branch: base.branch, stamp }))
    yield interfered(plan, interference)

  const seconds = (): number => secondsSince(startedAt, ports.now())
  const attempt = { run, plan, agent, seconds, undone: [], work: await ports.workspace.inspect(base) }
  const { early, work: found, undone } = yield* takeBack(attempt)
  const tasks = taskFolder(run)
  const said = yield* judge(run, plan, { said: outcomeOfEnd(agent.end), work: found, tasks })
  const { outcome, work } = yield* lookAfterGates(run, plan, { said, work: found, tasks })
  const gatesChanged = await changedGates(run, plan, found)
  if (gatesChanged.length > 0) yield interfered(plan, { kind: 'gates-changed', paths: gatesChanged })
  if (outcome.kind !== 'done') return yield* failed({ ...attempt, work, undone }, outcome, early)
  const completion = yield* complete(run, { plan, agent, gatesChanged, seconds: seconds(), work })
  if (completion.kind !== 'completed')
    return yield* failed({ ...attempt, work, undone }, completion.outcome, early)
  run.flight.spend(agent.usage.costUsd)
  yield finished(attempt, outcome, early)
  return { outcome, decision: { kind: 'complete' }, kept: early, completed: completion }
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
    usage: UNKNOWN_USAGE,
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
    ? await keepRecord(attempt, outcome, { final, idle: isIdle(ended), tree, earlier })
    : earlier
  run.flight.spend(agent.usage.costUsd)
  yield finished(attempt, outcome, kept)
  return { outcome, decision, kept, completed: null }
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

function secondsSince(start: Date, now: Date): number {
  return Math.max(0, (now.getTime() - start.getTime()) / 1000)
}
