import { UserError } from '../base/errors.ts'
import type { Session } from '../agent/port.ts'
import { attempt, attemptFinished, fail, type Failed, type Passed } from '../attempt/attempt.ts'
import { logOf, type AgentChoice, type From, type Job } from '../attempt/job.ts'
import { fingerprintOf, outcome, type Outcome } from '../attempt/outcome.ts'
import { patience } from '../base/patience.ts'
import { fewOf } from '../base/text.ts'
import type { Emit } from '../attempt/ports.ts'
import { waitText } from '../base/time.ts'
import type { Happening } from '../events/event.ts'
import { formatCost, UNKNOWN_USAGE } from '../events/usage.ts'
import type { CommitResult } from '../git/commit.ts'
import type { Base } from '../git/head.ts'
import { land, type Landed } from '../landing/land.ts'
import { taskJson } from '../select/task-json.ts'
import type { Task } from '../task/model.ts'
import type { OriginReport } from '../task/origin.ts'
import { conclude, giveUp, sameAsBaseline, sameAsBefore, stop, type TaskRunEnd } from './give-up.ts'
import { freeAgent } from './free-agent.ts'
import type { Ledger } from './ledger.ts'
import type { JobNote } from './note.ts'
import { answerFor, attemptPorts, landingPorts } from './job-ports.ts'
import type { RunOptions, RunPorts } from './ports.ts'
import { prepare } from './prepare.ts'
import { currentTask } from './source.ts'

/** A running run: its options, its ports, and its state. */
export interface Run {
  readonly options: RunOptions
  readonly ports: RunPorts
  readonly note: JobNote
  readonly ledger: Ledger
  readonly emit: Emit<Happening>
  /** What it shares with other jobs; null if it works in the checkout, alone. */
  readonly together: Together | null
}

/** What several jobs share. */
export interface Together {
  /** Commits a text of a task's file on the branch, when no landing is under way. */
  readonly commitText: (request: TextCommit) => Promise<CommitResult & { readonly head: string | null }>
  /** What the next attempt at that task may cost; null if there is no limit. */
  readonly reserve: (task: string) => number | null
}

/** A text of a task's file for the branch: made from the task as it is there, together with its origin's text. */
export interface TextCommit {
  readonly task: Task
  readonly text: (task: Task) => string
  readonly report?: OriginReport
  readonly message: string
}

/** Work that passed, and waits to land. */
export interface Ready {
  readonly kind: 'ready'
  readonly job: Job
  readonly passed: Passed
}

/** The state of a task between two attempts. */
interface Standing {
  readonly base: Base
  readonly from: From
  /** The conversation that a person continues, if they do the next attempt by hand; null for the agent. */
  readonly byHand: Session | null
  /** The number of waits without an attempt in between. */
  readonly waits: number
  /** Agents that have waited for a limit that may be about money. */
  readonly unpaid: ReadonlySet<string>
}

/**
 * Works on one task until it is done, blocked or left; one of several jobs ends when its work is ready to
 * land. `refused` is the failed attempt of a refused landing, which another attempt follows.
 */
export async function runTask(
  run: Run,
  chosen: Task,
  start: Base,
  refused: Failed | null = null,
): Promise<TaskRunEnd | Ready> {
  const { ports, emit } = run
  let task = chosen
  const choices = await choicesFor(run, task)
  if (typeof choices === 'string') {
    emit({ type: 'task-given-up', id: task.id, title: task.title, reason: choices })
    return { kind: 'left', base: start, reason: choices }
  }
  if (!refused) emit(taskStarted(run, task, choices[0]))
  const first = run.options.byHand ? (refused ? 'last' : 'new') : null
  let at: Standing = { base: start, from: { kind: 'base' }, byHand: first, ...NO_WAITS }
  let choice: AgentChoice | null = choices[0]
  let current = choice.name
  const { control } = ports
  const skipped = control.skipped(task.id)
  const over = AbortSignal.any([control.stopping, skipped])
  const end = (why: 'interrupted' | 'stopped' | 'budget', reason: string): Promise<TaskRunEnd> =>
    stop(run, { ...at, why, reason })
  for (let result = refused; ;) {
    if (result) {
      const next = await afterFailure(run, { task, at, choice, result, end })
      if ('kind' in next) return next
      ;({ task, at } = next)
    }
    await control.unpaused(over)
    if (at.from.kind === 'record') task = await taskNow(run, task)
    // A person waits for no limit, and continues the conversation of that agent.
    choice = at.byHand === null ? await freeAgent(run, choices, { id: task.id, over }) : choice
    if (control.isStopping) return end('interrupted', 'the run was interrupted')
    if (skipped.aborted || !choice)
      return conclude(run, { ...at, task, reason: 'the task was skipped' }, 'skip')
    if (choice.name !== current) emit({ type: 'warning', message: changeText(run, task, current, choice) })
    current = choice.name
    const unread = await unreadConfiguration(run, choice)
    if (unread !== null) return end('stopped', unread)
    const { job, warnings } = await prepare(
      { ...at, task, choice, budgetLeft: budgetLeft(run, task), token: ports.newToken() },
      run,
    )
    for (const message of warnings) emit({ type: 'warning', message })
    const ended = await attemptAndLand(run, job)
    if (ended.kind !== 'failed') {
      run.ledger.idleEnd = null
      return ended
    }
    const { work, record } = ended
    const from: From = record ? { kind: 'record', commit: record.commit, tree: work.tree } : at.from
    at = {
      base: work.base,
      from,
      byHand: at.byHand,
      ...(ended.decision.kind === 'wait' ? waited(at, choice, ended.outcome) : NO_WAITS),
    }
    result = ended
  }
}

/** What follows a failed attempt: the end of the task, or the state for another attempt. */
async function afterFailure(
  run: Run,
  failed: {
    readonly task: Task
    readonly at: Standing
    readonly choice: AgentChoice | null
    readonly result: Failed
    readonly end: (why: 'interrupted' | 'stopped' | 'budget', reason: string) => Promise<TaskRunEnd>
  },
): Promise<TaskRunEnd | { readonly task: Task; readonly at: Standing }> {
  const { task, at, choice, result, end } = failed
  const { decision, outcome } = result
  const { control } = run.ports
  if (at.byHand !== null) return afterByHand(run, { ...failed, byHand: at.byHand })
  const ruined = sameAsBaseline(run, outcome) ?? sameAsBefore(run, result.record)
  if (ruined !== null) return end('stopped', ruined)
  switch (decision.kind) {
    case 'complete':
      throw new Error('an attempt is complete without a commit')
    case 'stop':
      if (control.isStopping) return end('interrupted', decision.reason)
      return end(decision.why, (decision.why === 'budget' && overBudget(run)) || decision.reason)
    case 'hand-over':
      return { task, at: { ...at, byHand: result.session === null ? 'new' : { id: result.session } } }
    case 'leave':
      return conclude(run, { ...at, task, reason: decision.reason }, 'skip')
    case 'wait':
      if (choice) run.ledger.limit(choice.name, decision)
      return { task, at }
    case 'retry': {
      const spent = overBudget(run)
      if (spent !== null) return end('budget', spent)
      await pause(run, task, decision.pauseSeconds, outcome.reason)
      return { task, at }
    }
    case 'give-up': {
      const { reason, blocked } = decision
      run.ledger.idleEnd = result.record?.idle ? result.record : null
      const taskEnd = await giveUp(run, { ...at, task, reason, isBlocked: blocked })
      if (taskEnd?.kind === 'answered')
        return {
          task: taskEnd.task,
          at: { base: taskEnd.base, from: { kind: 'base' }, byHand: null, ...NO_WAITS },
        }
      return taskEnd ?? { task, at }
    }
  }
}

const BACK = 'go back in'
const NOT_BACK = 'leave it as a failed attempt'

/** What follows an attempt by hand that does not pass: the person continues, or it counts as any failed attempt. */
async function afterByHand(
  run: Run,
  failed: Parameters<typeof afterFailure>[1] & { readonly byHand: Session },
): Promise<TaskRunEnd | { readonly task: Task; readonly at: Standing }> {
  const { task, at, result, byHand } = failed
  const { control } = run.ports
  const { reason } = result.outcome
  const agents = { ...at, byHand: null }
  const isOver = control.isStopping || control.skipped(task.id).aborted
  if (!isOver && (await goesBackIn(run, task.id, reason)))
    return { task, at: { ...at, byHand: byHand === 'new' ? 'last' : byHand } }
  // A person who does a task by hand does not want an agent to continue alone.
  if (run.options.byHand && !control.isStopping) return conclude(run, { ...at, task, reason }, 'skip')
  return afterFailure(run, { ...failed, at: agents })
}

async function goesBackIn({ ports, options, emit }: Run, id: string, reason: string): Promise<boolean> {
  const question = { id, text: `${reason}. Go back in?`, options: [BACK, NOT_BACK] }
  emit({ type: 'question', ...question })
  const { control } = ports
  const wait = patience(options.askSeconds, AbortSignal.any([control.signal, control.skipped(id)]))
  const answer = await answerFor(ports, question, wait.signal).finally(wait.end)
  if (answer !== null) emit({ type: 'answered', id, answer })
  return answer === BACK
}

/** Why the agent may not start before a person has read what agents of this run have written for it; null if it may. */
async function unreadConfiguration({ ports, ledger }: Run, choice: AgentChoice): Promise<string | null> {
  if (choice.permission.level === 'custom' || ledger.runsLater.length === 0) return null
  const { alwaysReads } = await ports.agent(choice)
  const { inspect, prefix } = ports.workspace
  const isThere = (path: string): boolean =>
    !path.startsWith(prefix) || inspect.text(path.slice(prefix.length)) !== null
  const obeyed = ledger.runsLater.filter((path) => alwaysReads?.(path) && isThere(path))
  if (obeyed.length === 0) return null
  return `${choice.name} would obey ${fewOf(obeyed)}, which an agent of this run has changed: read it, then run ralph again`
}

/** What the next attempt may cost the run; null if there is no limit. */
function budgetLeft({ options: { budget }, note, together }: Run, { id }: Task): number | null {
  if (together) return together.reserve(id)
  return budget === null ? null : budget - (note.spentUsd() ?? 0)
}

/** The message that another agent does the task now, and why. */
function changeText({ ports, ledger }: Run, { id }: Task, before: string, { name }: AgentChoice): string {
  const { until, reason } = ledger.limitOf(before)
  if (until <= ports.now()) return `${name} goes on with ${id}: its wait is over`
  return `${name} goes on with ${id}: ${before} waits ${waitText(until, ports.now())} (${reason})`
}

/** The state before any wait. */
export const NO_WAITS: Pick<Standing, 'waits' | 'unpaid'> = { waits: 0, unpaid: new Set() }

/** The state after one more wait of that agent. */
export function waited(
  { waits, unpaid }: typeof NO_WAITS,
  { name }: AgentChoice,
  { hopeless }: Outcome,
): typeof NO_WAITS {
  return { waits: waits + 1, unpaid: hopeless === 'money' ? new Set([...unpaid, name]) : unpaid }
}

function taskStarted({ ports, options }: Run, task: Task, { label }: AgentChoice): Happening {
  const { tier, maxTurns, timeoutSeconds } = ports.tierOf(task)
  return {
    type: 'task-started',
    id: task.id,
    task: taskJson({ task, eligible: true, waiting: [] }, ports.tierOf),
    tier,
    limits: {
      turns: options.maxTurns ?? maxTurns,
      seconds: options.timeoutSeconds ?? timeoutSeconds,
      attempts: options.retries + 1,
    },
    agent: label,
  }
}

/** The task as its file is now: a person may have edited it between two attempts. */
async function taskNow({ ports: { source } }: Run, task: Task): Promise<Task> {
  const now = await currentTask(source, task)
  return now?.status === 'TODO' ? now : task
}

/** The agents for the task, or why there is none: in a loop only this task fails, and the others continue. */
export async function choicesFor(
  { ports, options }: Pick<Run, 'ports' | 'options'>,
  task: Task,
): Promise<readonly [AgentChoice, ...AgentChoice[]] | string> {
  try {
    return await ports.agentsFor(task)
  } catch (error) {
    if (!options.loop || !(error instanceof UserError)) throw error
    return `${error.message}. ${error.fix}`
  }
}

async function pause(run: Run, task: Task, seconds: number, reason: string): Promise<void> {
  const { ports, emit } = run
  const until = new Date(ports.now().getTime() + seconds * 1000).toISOString()
  emit({ type: 'waiting', id: task.id, until, reason: `before the next attempt: ${reason}` })
  await ports.sleep(seconds * 1000, AbortSignal.any([ports.control.stopping, ports.control.skipped(task.id)]))
}

/** Why the budget is used up; null if it is not. */
export function overBudget({ options: { budget }, note }: Pick<Run, 'options' | 'note'>): string | null {
  const spent = note.spentUsd() ?? 0
  if (budget === null || spent < budget) return null
  return `the run has cost ${formatCost(spent)}, its budget is ${formatCost(budget)}`
}

export type Completed = Extract<TaskRunEnd, { kind: 'completed' }>

/** Makes the attempt, and lands what passes unless the run does that: if it does not land, the attempt has failed too. */
async function attemptAndLand(run: Run, job: Job): Promise<Completed | Failed | Ready> {
  const { ports, note, ledger } = run
  beginNote(run, job)
  ports.checkpoint('attempt-noted')
  const emit: Emit<Happening> = (event) => {
    if (event.type === 'agent-usage') note.update({ usage: event.usage })
    if (event.type === 'interference' && event.interference.kind === 'runs-later')
      ledger.addRunsLater(event.interference.paths)
    run.emit(event)
  }
  const atHand = attemptPorts(ports, job.task.id)
  const result = await (ports.elsewhere ?? HERE).attempt(job, atHand, emit)
  if (result.kind === 'passed' && run.together) {
    if (result.record) ledger.keep(result.record)
    note.spend(costOf(result, null))
    note.clear()
    return { kind: 'ready', job, passed: result }
  }
  const ended = result.kind === 'passed' ? await landPassed(run, job, result) : result
  const record = ended.kind === 'failed' ? ended.record : result.record
  if (record) ledger.keep(record)
  note.spend(costOf(result, ended))
  return ended
}

/** Makes attempts in this process. */
const HERE = { attempt }

function costOf(result: Passed | Failed, ended: Completed | Failed | null): number | null {
  if (result.kind === 'passed') return result.candidate.facts.usage.costUsd
  return ended?.kind === 'failed' ? ended.usage.costUsd : null
}

function beginNote({ ports, note }: Run, job: Job): void {
  const { task, attempt: number, situation, base, agent, tier } = job
  note.begin({
    task: task.id,
    title: task.title,
    number,
    counted: situation.counted,
    most: situation.most,
    base,
    agent: agent.label,
    model: agent.model,
    tier,
    startedAt: ports.now().toISOString(),
    log: logOf(job),
    usage: UNKNOWN_USAGE,
  })
}

async function landPassed(run: Run, job: Job, { candidate, record }: Passed): Promise<Completed | Failed> {
  const { ledger, options, emit } = run
  const { subject, progress, checkCriteria } = options
  const landed = await land(
    { candidate, earlier: ledger.seriesAt(job.task.id), subject, progress, checkCriteria },
    landingPorts(run, job),
    emit,
  )
  return afterLanding(run, job, { candidate, record }, landed)
}

/** The result of a landing: the task is completed, or its attempt has failed after all. */
export async function afterLanding(
  run: Pick<Run, 'ports' | 'emit'>,
  job: Job,
  { candidate, record }: Omit<Passed, 'kind'>,
  landed: Landed,
): Promise<Completed | Failed> {
  const { ports, emit } = run
  const { task } = job
  if (landed.kind === 'refused') {
    const { reason, kind, detail, fingerprint } = landed.refusal
    const print = fingerprint === null ? {} : { fingerprint: fingerprintOf(fingerprint) }
    const failed = await fail(
      job,
      {
        ...candidate,
        work: landed.work,
        outcome: outcome(kind, reason, { ...(detail === '' ? {} : { detail }), ...print }),
        early: record,
        commits: landed.undone === null ? [] : [landed.undone],
      },
      attemptPorts(ports, task.id),
      emit,
    )
    if (failed.record) ports.workspace.record.dropCandidate(candidate.kept)
    return failed
  }
  const done = outcome('done', 'the agent says that it is done')
  emit(attemptFinished(candidate.facts, done, { denied: candidate.denied, ref: record?.ref ?? null }))
  return {
    kind: 'completed',
    landed,
    candidate: candidate.kept,
    base: { ...landed.work.base, head: landed.commit },
  }
}
