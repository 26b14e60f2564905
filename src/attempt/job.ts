import type { AgentLimits } from '../agent/port.ts'
import { scriptIn } from '../agent/providers/script.ts'
import { withMark } from '../process/mark.ts'
import type { Base } from '../git/restore.ts'
import type { TierChoice } from '../select/tier.ts'
import type { Task } from '../task/model.ts'
import type { AttemptRecord } from '../git/record.ts'
import { costOf, decide } from './decide.ts'
import type { Decision, Ended, Situation } from './decide.ts'
import { POLICIES } from './outcome.ts'
import type { AgentChoice } from '../run/ports.ts'
import { attemptsAt, seriesOf } from '../run/run.ts'
import type { Run } from '../run/run.ts'

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
    limits: { ...limits, budgetUsd: remainingBudget(situation) },
    env: withMark(ports.env, flight.mark),
    log: `.ralph/logs/${task.id}-${number}.log`,
    script: scriptOf(task),
    earlier,
    series,
    decide: (ended) => decide(ended, { ...situation, now: ports.now() }),
  }
}

/** What the attempt may cost: the less of what is left to the run and to the task. */
function remainingBudget({
  series,
  maxCostPerTask,
  runBudgetLeft,
}: Pick<Situation, 'series' | 'maxCostPerTask' | 'runBudgetLeft'>): number | null {
  const left = [
    ...(runBudgetLeft === null ? [] : [runBudgetLeft]),
    ...(maxCostPerTask === null ? [] : [maxCostPerTask - costOf(series)]),
  ]
  return left.length === 0 ? null : Math.max(0, Math.min(...left))
}

/** The script under `## Script`, for the embedded agent. */
export function scriptOf(task: Task): string | null {
  const section = task.sections.find(({ title }) => title.trim().toLowerCase() === 'script')
  return section ? scriptIn(task.source.slice(section.bodySpan.start, section.bodySpan.end)) : null
}
