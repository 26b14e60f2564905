import { goOnText } from '../prompt/go-on.ts'
import { costOf, type Situation } from './decide.ts'
import type { AgentChoice, Conversation } from '../agents/port.ts'
import { jobTaskOf, type From, type Job } from './job.ts'
import type { Base } from '../git/head.ts'
import type { Task } from '../backlog/model.ts'
import type { Ledger } from './ledger.ts'
import type { RunOptions, RunPorts, WritePrompt } from './ports.ts'

/** An agent's conversation that was cut off. */
export interface Resumable extends Conversation {
  /** The name of the agent. */
  readonly agent: string
  /** Why it was cut off. */
  readonly reason: string
}

/** What the next attempt at a task depends on, besides the run's options. */
interface NextAttempt {
  readonly task: Task
  readonly choice: AgentChoice
  readonly base: Base
  readonly from: From
  readonly byHand?: Job['byHand']
  /** The agent's conversation to go on with, and why it was cut off; null for a new one. */
  readonly resume?: Resumable | null
  /** Waits in a row before it. */
  readonly waits: number
  /** How often each agent has waited for a limit whose end nobody names. */
  readonly endlessWaits: ReadonlyMap<string, number>
  /** What the run may still spend on it; null if there is no limit. */
  readonly budgetLeft: number | null
  readonly token: string
}

/** A job, its prompt's length in tokens, and the paths that its task names and that do not exist. */
interface Prepared {
  readonly job: Job
  readonly estimate: number
  readonly warnings: readonly string[]
}

/** The ports for preparing a job, which a preview has too. */
type PreparePorts = Pick<RunPorts, 'tierOf'> & {
  readonly source: Pick<RunPorts['source'], 'folders' | 'tasks'>
  readonly prompt: WritePrompt
  /** The files of other tools' backlogs that are kept in sync. */
  readonly origins: readonly string[]
}

/** Makes the job of the next attempt at a task: the same for a run and for a preview. */
export async function prepare(
  next: NextAttempt,
  { options, ledger, ports }: { options: RunOptions; ledger: Ledger; ports: PreparePorts },
): Promise<Prepared> {
  const { task, choice, base, from, byHand = null, resume = null, token } = next
  const { gates, gatesChanged, maxTurns, timeoutSeconds, stallSeconds } = options
  const records = ledger.attemptsAt(task.id)
  const tier = ports.tierOf(task)
  const situation = situationOf(next, options, ledger)
  const prompt = await ports.prompt({
    task,
    tasks: ports.source.tasks(),
    attempts: records,
    gates,
    failedBefore: ledger.failedBefore,
    continues:
      (from.kind === 'record' && records.find(({ commit }) => commit === from.commit)?.number) || null,
    hasTools: choice.hasTools,
  })
  const job: Job = {
    version: 1,
    task: jobTaskOf(task),
    attempt: (records.at(-1)?.number ?? 0) + 1,
    token,
    base,
    from,
    agent: choice,
    tier: tier.tier,
    limits: {
      turns: maxTurns ?? tier.maxTurns,
      seconds: timeoutSeconds ?? tier.timeoutSeconds,
      stallSeconds,
      budgetUsd: remainingBudget(situation),
    },
    prompt: resume ? goOnText(resume.reason) : prompt.text,
    resume: resume && { session: resume.session, used: resume.used },
    byHand,
    resources: prompt.resources,
    askSeconds: options.askSeconds,
    gates,
    gatesChanged,
    situation,
    backlog: {
      folders: ports.source.folders.names,
      numbers: ports.source.tasks().map(({ number }) => number),
      origins: ports.origins,
      mayAdd: Math.max(0, options.maxAddedTasks - ledger.addedTasks),
    },
  }
  return { job, estimate: prompt.estimate, warnings: prompt.warnings }
}

function situationOf(
  { task, choice, waits, endlessWaits, budgetLeft }: NextAttempt,
  { retries, maxCostPerTask, askSeconds }: RunOptions,
  ledger: Ledger,
): Omit<Situation, 'now'> {
  return {
    counted: ledger.nextCountedAt(task.id),
    most: retries + 1,
    series: ledger.seriesAt(task.id),
    maxCostPerTask,
    runBudgetLeft: budgetLeft,
    waits,
    endlessWaits: endlessWaits.get(choice.name) ?? 0,
    askSeconds,
  }
}

/** The cost limit of the attempt: the smaller of the run's and the task's remaining budgets. */
function remainingBudget({ series, maxCostPerTask, runBudgetLeft }: Omit<Situation, 'now'>): number | null {
  const left = [
    ...(runBudgetLeft === null ? [] : [runBudgetLeft]),
    ...(maxCostPerTask === null ? [] : [maxCostPerTask - costOf(series)]),
  ]
  return left.length === 0 ? null : Math.max(0, Math.min(...left))
}
