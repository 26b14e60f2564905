import { criteriaTexts } from '../backlog/criteria.ts'
import { goOnText } from '../prompt/go-on.ts'
import { usedIn, type Situation } from './decide.ts'
import { eachAmount, type Amounts } from '../base/usage.ts'
import type { AgentChoice, AgentLimits, Conversation } from '../agents/port.ts'
import { jobTaskOf, type From, type Job } from './job.ts'
import type { Base } from '../git/head.ts'
import type { KeptAttempt } from '../git/record.ts'
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
  /** What the run may still spend on it. */
  readonly left: Amounts
  readonly token: string
}

/** A job, its prompt's length in tokens, and the paths that its task names and that do not exist. */
interface Prepared {
  readonly job: Job
  readonly estimate: number
  readonly warnings: readonly string[]
}

/** The ports for preparing a job, which a preview has too. */
type PreparePorts = Pick<RunPorts, 'tierOf' | 'reviewersFor'> & {
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
  const { gatesChanged, maxTurns, timeoutSeconds, stallSeconds } = options
  const gates = ledger.inForce(options.gates)
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
      ...remaining(situation),
    },
    prompt: prompt.text,
    resume: resume && { session: resume.session, used: resume.used, prompt: goOnText(resume.reason) },
    byHand,
    resources: prompt.resources,
    askSeconds: options.askSeconds,
    gates,
    gatesChanged,
    review: {
      by: await ports.reviewersFor(task),
      text: task.source,
      criteria: criteriaTexts(task),
      failedBefore: ledger.seriesAt(task.id).filter((record) => record.outcome === 'review-failed').length,
    },
    tests: testsOf(task, records, options, ledger),
    situation,
    backlog: {
      numbers: ports.source.tasks().map(({ number }) => number),
      origins: ports.origins,
      mayAdd: Math.max(0, options.maxAddedTasks - ledger.addedTasks),
    },
  }
  return { job, estimate: prompt.estimate, warnings: prompt.warnings }
}

/** What the witness needs: the task's own word on tests goes before the configuration's. */
function testsOf(
  { testPolicy }: Task,
  records: readonly KeptAttempt[],
  { tests }: RunOptions,
  { failedBefore, passedBefore }: Ledger,
): Job['tests'] {
  const changed = testPolicy === 'keep' ? 'refuse' : testPolicy === 'may change' ? 'report' : tests.changed
  const texts = [...failedBefore.map(({ excerpt }) => excerpt), ...records.map(({ detail }) => detail)]
  return {
    policy: { ...tests, changed },
    green: passedBefore.map(({ gate }) => gate.name),
    before: Object.fromEntries(
      passedBefore.flatMap(({ gate, tests }) => (tests ? [[gate.name, tests.run]] : [])),
    ),
    failedBefore: texts.join('\n').slice(-LONGEST_BEFORE),
  }
}

const LONGEST_BEFORE = 50_000

function situationOf(
  { task, choice, waits, endlessWaits, left }: NextAttempt,
  { retries, maxCostPerTask, maxTokensPerTask, askSeconds }: RunOptions,
  ledger: Ledger,
): Omit<Situation, 'now'> {
  return {
    counted: ledger.nextCountedAt(task.id),
    most: retries + 1,
    series: ledger.seriesAt(task.id),
    taskLimit: { usd: maxCostPerTask, tokens: maxTokensPerTask },
    runLeft: left,
    waits,
    endlessWaits: endlessWaits.get(choice.name) ?? 0,
    askSeconds,
  }
}

/** What the attempt may use: the smaller part of what the run and the task have left. */
function remaining({
  series,
  taskLimit,
  runLeft,
}: Omit<Situation, 'now'>): Pick<AgentLimits, 'budgetUsd' | 'tokens'> {
  const used = usedIn(series)
  const { usd, tokens } = eachAmount((kind) => {
    const ofTask = taskLimit[kind] === null ? [] : [taskLimit[kind] - (used[kind] ?? 0)]
    const ofRun = runLeft[kind] === null ? [] : [runLeft[kind]]
    const left = [...ofTask, ...ofRun]
    return left.length === 0 ? null : Math.max(0, Math.min(...left))
  })
  return { budgetUsd: usd, tokens }
}
