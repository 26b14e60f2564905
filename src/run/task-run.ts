import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { scriptIn } from '../agent/providers/script.ts'
import { UserError } from '../base/errors.ts'
import { withMark } from '../base/process-mark.ts'
import { composeMessage } from '../git/trailers.ts'
import type { Base } from '../git/restore.ts'
import type { Task } from '../task/model.ts'
import type { AttemptRecord } from './attempt-record.ts'
import { runAttempt } from './attempt.ts'
import type { AttemptPlan } from './attempt.ts'
import type { Completed } from './completion.ts'
import { decide } from './decide.ts'
import type { Happening } from './events.ts'
import { failurePrint } from './judge.ts'
import { POLICIES } from './outcome.ts'
import type { Outcome } from './outcome.ts'
import type { AgentChoice } from './ports.ts'
import { attemptsAt, seriesOf } from './run.ts'
import type { Run } from './run.ts'

/** How a task ended. */
export type TaskEnd =
  | { readonly kind: 'completed'; readonly completed: Completed }
  | { readonly kind: 'blocked'; readonly commit: string }
  | { readonly kind: 'left'; readonly reason: string }
  /** The whole run is to end: the tree is as it was before the task, unless `stuck` says why not. */
  | {
      readonly kind: 'stop'
      readonly why: 'interrupted' | 'stopped' | 'failed' | 'budget'
      readonly reason: string
    }

/** Works on one task until it is done, blocked or left. */
export async function* runTask(run: Run, task: Task, base: Base): AsyncGenerator<Happening, TaskEnd> {
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
    if (!choice)
      return yield* stop(run, {
        base,
        tree: startTree,
        why: 'interrupted',
        reason: 'the run was interrupted',
      })
    const earlier = attemptsAt(run, task.id)
    const series = seriesOf(earlier)
    const now: number = series.filter((record) => POLICIES[record.outcome].counts).length + 1
    const budgetUsd = remainingBudget(run, series)
    const situation = {
      try: now,
      tries,
      series,
      maxCostPerTask: options.maxCostPerTask,
      runBudgetLeft: options.budget === null ? null : options.budget - (run.flight.spentUsd ?? 0),
      waits,
      now: ports.now(),
    }
    const plan: AttemptPlan = {
      task,
      number: (earlier.at(-1)?.number ?? 0) + 1,
      try: now,
      tries,
      base,
      choice,
      tier,
      limits: { ...limits, budgetUsd },
      env: withMark(ports.env, run.flight.mark),
      log: `.ralph/logs/${task.id}-${(earlier.at(-1)?.number ?? 0) + 1}.log`,
      script: scriptOf(task),
      earlier,
      series,
      startTree,
      decide: (ended) => decide(ended, { ...situation, now: ports.now() }),
    }
    const result = yield* runAttempt(run, plan)
    startTree = result.kept?.tree ?? startTree
    const { decision } = result
    waits = decision.kind === 'wait' ? waits + 1 : 0
    const spent = overBudget(run)
    switch (decision.kind) {
      case 'complete':
        if (!result.completed) throw new Error('an attempt is complete without a commit')
        return { kind: 'completed', completed: result.completed }
      case 'stop':
        return yield* stop(run, {
          base,
          tree: startTree,
          why: ports.signal.aborted ? 'interrupted' : decision.why,
          reason: decision.reason,
        })
      case 'wait':
        run.limitedUntil.set(choice.agent.name, decision.until)
        break
      case 'retry':
        if (spent !== null) return yield* stop(run, { base, tree: startTree, why: 'budget', reason: spent })
        yield* pause(run, task, decision.pauseSeconds, result.outcome)
        break
      case 'give-up': {
        const ruined = sameAsBaseline(run, result.outcome)
        if (ruined !== null)
          return yield* stop(run, { base, tree: startTree, why: 'stopped', reason: ruined })
        const end = yield* giveUp(run, {
          task,
          base,
          tree: startTree,
          reason: decision.reason,
          blocked: decision.blocked,
        })
        if (end) return end
        break
      }
    }
    if (ports.signal.aborted)
      return yield* stop(run, {
        base,
        tree: startTree,
        why: 'interrupted',
        reason: 'the run was interrupted',
      })
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

interface GivingUp {
  readonly task: Task
  readonly base: Base
  /** Where the tree is recorded; null where nobody has touched it. */
  readonly tree: string | null
  readonly reason: string
  readonly blocked: boolean
}

/** Blocks the task, leaves it or stops, as asked; null to try again. */
async function* giveUp(run: Run, giving: GivingUp): AsyncGenerator<Happening, TaskEnd | null> {
  const { task, base, reason } = giving
  const { ports, options } = run
  const wish = giving.blocked && options.onFailure !== 'ask' ? 'block' : options.onFailure
  const attempts = attemptsAt(run, task.id).length
  const answer = wish === 'ask' ? await (ports.ask?.({ task, reason, attempts }) ?? 'block') : wish
  if (answer === 'retry') return null
  const back = await putBack(run, base, giving.tree)
  if (back !== null) return { kind: 'stop', why: 'stopped', reason: back }
  if (answer === 'block') return yield* block(run, { task, base, reason })
  run.flight.land()
  yield { type: 'task-given-up', id: task.id, title: task.title, reason }
  if (answer === 'skip') return { kind: 'left', reason }
  return { kind: 'stop', why: 'failed', reason: `${task.id}: ${reason}` }
}

/** Writes down why a task is blocked, in a commit of its own; the tree is the base's. */
export async function* block(
  run: Run,
  what: { readonly task: Task; readonly base: Base; readonly reason: string },
): AsyncGenerator<Happening, TaskEnd> {
  const { task, base, reason } = what
  const { ports, flight } = run
  const attempts = seriesOrLast(attemptsAt(run, task.id))
  flight.update({ phase: 'blocking', reason })
  ports.checkpoint('blocking-noted')
  const text = ports.edits.block(task, { reason, attempts: attempts.length })
  writeFileSync(join(ports.workspace.root, task.file), text)
  ports.checkpoint('file-blocked')
  const message = composeMessage({
    subject: `${task.id}: Block: ${reason}`.slice(0, 120),
    body: reason,
    trailers: [
      { key: 'Task', value: task.id },
      { key: 'Blocked', value: reason },
      { key: 'Attempts', value: String(attempts.length) },
    ],
  })
  const path = `${ports.workspace.prefix}${task.file}`
  const result = await ports.workspace.commit({ message, paths: [path], signal: ports.killSignal })
  ports.checkpoint('block-committed')
  if (result.kind !== 'committed') {
    await ports.workspace.restoreFiles(base, [path])
    return {
      kind: 'stop',
      why: 'stopped',
      reason: `git did not take the commit that blocks ${task.id}: ${result.output}`,
    }
  }
  const commit = (await ports.workspace.look()).head ?? base.head
  flight.land()
  yield { type: 'task-blocked', id: task.id, title: task.title, reason, attempts: attempts.length, commit }
  return { kind: 'blocked', commit }
}

/** The attempts that ended in giving up just now: the last of them is final, so a new series would be empty. */
function seriesOrLast<R extends { readonly final: boolean }>(records: readonly R[]): readonly R[] {
  const before = records.slice(0, -1).findLastIndex((record) => record.final)
  return records.slice(before + 1)
}

async function* stop(
  run: Run,
  at: {
    readonly base: Base
    /** Where the tree is recorded; null where nobody has touched it. */
    readonly tree: string | null
    readonly why: 'interrupted' | 'stopped' | 'budget'
    readonly reason: string
  },
): AsyncGenerator<Happening, TaskEnd> {
  const back = await putBack(run, at.base, at.tree)
  if (back === null) run.flight.land()
  else yield { type: 'warning', message: back }
  return { kind: 'stop', why: at.why, reason: at.reason }
}

/** Takes the tree back to the base; null, or what keeps it from it. Nothing is moved that is not recorded. */
async function putBack(run: Run, base: Base, tree: string | null): Promise<string | null> {
  const { workspace } = run.ports
  try {
    const work = await workspace.inspect(base)
    if (!(await workspace.putBack(base, tree ?? (await workspace.treeOf(base.head)), work)))
      return 'somebody changed files after the attempt was recorded, so nothing was moved: the next run records them'
  } catch (error) {
    return `the tree could not be taken back: ${error instanceof Error ? error.message : String(error)}`
  }
  run.ports.checkpoint('tree-put-back')
  return null
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

/** Null while there is money left; else what to say. */
export function overBudget(run: Run): string | null {
  const { budget } = run.options
  const spent = run.flight.spentUsd ?? 0
  if (budget === null || spent < budget) return null
  return `the run has cost $${spent.toFixed(2)}, its budget is $${budget.toFixed(2)}`
}

/** What failed before anybody began cannot be laid at this task's door, nor at the next one's. */
function sameAsBaseline(run: Run, failure: Outcome): string | null {
  const before = run.failedBefore.filter((result) => result.gate.required)
  if (failure.kind !== 'gate-failed' || before.length === 0 || failure.fingerprint !== failurePrint(before))
    return null
  return `the gates fail exactly as they did before the run began: ${failure.reason}`
}

/** The script under `## Script`, for the embedded agent. */
export function scriptOf(task: Task): string | null {
  const section = task.sections.find(({ title }) => title.trim().toLowerCase() === 'script')
  return section ? scriptIn(task.source.slice(section.bodySpan.start, section.bodySpan.end)) : null
}
