import { UserError } from '../base/errors.ts'
import type { Base } from '../git/restore.ts'
import type { Task } from '../task/model.ts'
import { planOf } from '../attempt/job.ts'
import { runAttempt } from '../attempt/attempt.ts'
import type { Happening } from '../events/event.ts'
import { giveUp, sameAsBaseline, stop } from './give-up.ts'
import type { StopReason, TaskRunEnd } from './give-up.ts'
import type { Outcome } from '../attempt/outcome.ts'
import type { AgentChoice } from './ports.ts'
import type { Run } from './run.ts'
import { formatCost } from '../events/usage.ts'

/** Works on one task until it is done, blocked or left. */
export async function* runTask(run: Run, task: Task, base: Base): AsyncGenerator<Happening, TaskRunEnd> {
  const { ports, options } = run
  const tier = ports.tierOf(task)
  const choices = await agentsOf(run, task)
  if (typeof choices === 'string') {
    yield { type: 'task-given-up', id: task.id, title: task.title, reason: choices }
    return { kind: 'left', reason: choices }
  }
  const limits = {
    turns: options.maxTurns ?? tier.maxTurns,
    seconds: options.timeoutSeconds ?? tier.timeoutSeconds,
    stallSeconds: options.stallSeconds,
  }
  const tries = options.retries + 1
  yield {
    type: 'task-started',
    task,
    tier: tier.tier,
    limits: { turns: limits.turns, seconds: limits.seconds, tries },
    agent: choices[0].label,
  }
  let waits = 0
  let startTree: string | null = null
  for (;;) {
    const choice = yield* freeAgent(run, task, choices)
    const end = (why: StopReason, reason: string) => stop(run, { base, tree: startTree, why, reason })
    if (!choice) return yield* end('interrupted', 'the run was interrupted')
    const plan = planOf(run, { task, base, choice, tier, limits, startTree, waits })
    const result = yield* runAttempt(run, plan)
    startTree = result.kept?.tree ?? startTree
    const { decision } = result
    waits = decision.kind === 'wait' ? waits + 1 : 0
    switch (decision.kind) {
      case 'complete':
        if (!result.completed) throw new Error('an attempt is complete without a commit')
        return { kind: 'completed', completed: result.completed }
      case 'stop':
        return yield* end(ports.signal.aborted ? 'interrupted' : decision.why, decision.reason)
      case 'wait':
        run.limitedUntil.set(choice.agent.name, decision.until)
        break
      case 'retry': {
        const spent = overBudget(run)
        if (spent !== null) return yield* end('budget', spent)
        yield* pause(run, task, decision.pauseSeconds, result.outcome)
        break
      }
      case 'give-up': {
        const ruined = sameAsBaseline(run, result.outcome)
        if (ruined !== null) return yield* end('stopped', ruined)
        const { reason, blocked } = decision
        const given = yield* giveUp(run, { task, base, tree: startTree, reason, blocked })
        if (given) return given
        break
      }
    }
  }
}

/** Who does the task, or why nobody can: in a loop that is this task's matter, and the others go on. */
export async function agentsOf(
  { ports, options }: Run,
  task: Task,
): Promise<readonly [AgentChoice, ...AgentChoice[]] | string> {
  try {
    return await ports.agentsFor(task)
  } catch (error) {
    if (!options.loop || !(error instanceof UserError)) throw error
    return `${error.message}. ${error.fix}`
  }
}

/** The first agent that no limit holds back, waiting for one where all are; null where the run is interrupted. */
async function* freeAgent(
  run: Run,
  task: Task,
  choices: readonly AgentChoice[],
): AsyncGenerator<Happening, AgentChoice | null> {
  const { ports } = run
  for (;;) {
    if (ports.signal.aborted) return null
    const now = ports.now()
    const until = (choice: AgentChoice): number => run.limitedUntil.get(choice.agent.name)?.getTime() ?? 0
    const free = choices.find((choice) => until(choice) <= now.getTime())
    if (free) return free
    const first = new Date(Math.min(...choices.map(until)))
    yield {
      type: 'waiting',
      id: task.id,
      until: first,
      reason: 'the service lets the agent do no more until then',
    }
    // In short steps: a laptop that sleeps stops the timer, not the clock.
    while (!ports.signal.aborted && ports.now() < first)
      await ports.sleep(Math.min(first.getTime() - ports.now().getTime(), 30_000), ports.signal)
  }
}

async function* pause(
  run: Run,
  task: Task,
  seconds: number,
  outcome: Outcome,
): AsyncGenerator<Happening, void> {
  const { ports } = run
  const until = new Date(ports.now().getTime() + seconds * 1000)
  yield { type: 'waiting', id: task.id, until, reason: `before the next try: ${outcome.reason}` }
  await ports.sleep(seconds * 1000, ports.signal)
}

/** Null while there is money left; else what to say. */
export function overBudget(run: Run): string | null {
  const { budget } = run.options
  const spent = run.flight.spentUsd ?? 0
  if (budget === null || spent < budget) return null
  return `the run has cost ${formatCost(spent)}, its budget is ${formatCost(budget)}`
}
