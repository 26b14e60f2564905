import type { AgentOutcome } from '../agent/port.ts'
import { fewOf } from '../base/few-of.ts'
import type { AttemptPlan } from './job.ts'
import { attemptMessage } from '../git/record.ts'
import type { Interference } from '../events/interference.ts'
import type { Outcome } from './outcome.ts'
import { attemptsAt } from '../run/run.ts'
import type { Run } from '../run/run.ts'
import type { Kept, Work } from '../workspace/workspace.ts'

/** One attempt, after its agent has ended. */
export interface Attempt {
  readonly run: Run
  readonly plan: AttemptPlan
  readonly agent: AgentOutcome
  readonly work: Work
  /** What the agent did that is not its to do. */
  readonly undone: readonly Interference[]
  /** How long it has taken by now. */
  readonly seconds: () => number
}

/** Keeps an attempt, with the tree as it is now and how it ended, for people, for the next prompt and for counting. */
export async function keepRecord(
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
  const records = attemptsAt(run, plan.task.id).filter((other) => other.number !== plan.number)
  const keptAt = Math.floor(run.ports.now().getTime() / 1000)
  run.attempts.set(plan.task.id, [...records, { ...facts, ref: kept.ref, commit: kept.commit, tree, keptAt }])
  run.ports.checkpoint('attempt-kept')
  return kept
}

/** Not more than a person would read of what stands in a commit's message. */
const MOST_TOLD = 50

function told(interference: Interference): string {
  switch (interference.kind) {
    case 'commits':
      return `commits: ${fewOf(interference.commits, MOST_TOLD)}`
    case 'operation':
      return `operation: ${interference.operation}`
    case 'branch':
      return 'branch'
    case 'refs-deleted':
    case 'refs-moved':
    case 'refs-made':
      return `${interference.kind}: ${fewOf(interference.refs, MOST_TOLD)}`
    default:
      return `${interference.kind}: ${fewOf(interference.paths, MOST_TOLD)}`
  }
}
