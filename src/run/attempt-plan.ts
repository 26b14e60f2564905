import type { AgentLimits } from '../agent/port.ts'
import { scriptIn } from '../agent/providers/script.ts'
import { withMark } from '../base/process-mark.ts'
import type { Base } from '../git/restore.ts'
import type { TierChoice } from '../select/tier.ts'
import type { Task } from '../task/model.ts'
import type { AttemptRecord } from './attempt-record.ts'
import type { AttemptPlan } from './attempt.ts'
import { decide } from './decide.ts'
import { POLICIES } from './outcome.ts'
import type { AgentChoice } from './ports.ts'
import { attemptsAt, seriesOf } from './run.ts'
import type { Run } from './run.ts'

/** What the next attempt at a task is to be: its number, its limits, and what will follow from how it ends. */
export function planOf(
  run: Run,
  next: {
    readonly task: Task
    readonly base: Base
    readonly choice: AgentChoice
    readonly tier: TierChoice
    readonly limits: Omit<AgentLimits, 'budgetUsd'>
    readonly startTree: string | null
    /** Waits in a row before it. */
    readonly waits: number
  },
): AttemptPlan {
  const { ports, options, flight } = run
  const { task, waits, limits, ...rest } = next
  const earlier = attemptsAt(run, task.id)
  const series = seriesOf(earlier)
  const number = (earlier.at(-1)?.number ?? 0) + 1
  const tries = options.retries + 1
  const situation = {
    try: series.filter((record) => POLICIES[record.outcome].counts).length + 1,
    tries,
    series,
    maxCostPerTask: options.maxCostPerTask,
    runBudgetLeft: options.budget === null ? null : options.budget - (flight.spentUsd ?? 0),
    waits,
  }
  return {
    ...rest,
    task,
    number,
    try: situation.try,
    tries,
    limits: { ...limits, budgetUsd: remainingBudget(run, series) },
    env: withMark(ports.env, flight.mark),
    log: `.ralph/logs/${task.id}-${number}.log`,
    script: scriptOf(task),
    earlier,
    series,
    decide: (ended) => decide(ended, { ...situation, now: ports.now() }),
  }
}

/** What the attempt may cost: the less of what is left to the run and to the task. */
function remainingBudget(run: Run, series: readonly AttemptRecord[]): number | null {
  const { budget, maxCostPerTask } = run.options
  const spent = series.reduce((sum, record) => sum + (record.usage.costUsd ?? 0), 0)
  const left = [
    ...(budget === null ? [] : [budget - (run.flight.spentUsd ?? 0)]),
    ...(maxCostPerTask === null ? [] : [maxCostPerTask - spent]),
  ]
  return left.length === 0 ? null : Math.max(0, Math.min(...left))
}

/** The script under `## Script`, for the embedded agent. */
export function scriptOf(task: Task): string | null {
  const section = task.sections.find(({ title }) => title.trim().toLowerCase() === 'script')
  return section ? scriptIn(task.source.slice(section.bodySpan.start, section.bodySpan.end)) : null
}
