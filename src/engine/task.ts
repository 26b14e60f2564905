import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { UserError } from '../base/errors.ts'
import type { Session, AgentChoice } from '../agents/port.ts'
import { fewOf } from '../base/text.ts'
import { waitText } from '../base/time.ts'
import type { Happening } from './events/event.ts'
import { totalUsage } from '../base/usage.ts'
import { overLimit } from './decide.ts'
import type { Base } from '../git/head.ts'
import { textIn, treeOf } from '../git/tree.ts'
import { taskJson } from '../backlog/select/task-json.ts'
import type { Task } from '../backlog/model.ts'
import { attempt, begunTree, factsOfJob, type Failed, type Passed } from './attempt.ts'
import { installing } from './check.ts'
import { freeAgent, type FreeAgent } from './free-agent.ts'
import { conclude, giveUp, isIdleFailure, sameAsBaseline, sameAsBefore, type TaskEnd } from './give-up.ts'
import type { From, Job } from './job.ts'
import { outcomeOfEnd, type Outcome } from './outcome.ts'
import type { Emit } from './ports.ts'
import { currentTask } from './land.ts'
import { prepare, type Resumable } from './prepare.ts'
import type { OutcomeKind } from '../base/names.ts'
import { askPerson } from './questions.ts'
import { attemptPorts, type Place, type Run } from './run-parts.ts'

/** Work that passed, and waits to land. */
export interface Ready {
  readonly kind: 'ready'
  readonly job: Job
  readonly passed: Passed
}

/** The state of a task between two attempts. */
interface TaskState {
  readonly task: Task
  readonly base: Base
  readonly from: From
  /** The agent's conversation that was cut off, and goes on; null if none does. */
  readonly resume: Resumable | null
  /** The conversation that a person continues, if they do the next attempt by hand; null for the agent. */
  readonly byHand: Session | null
  /** The number of waits without an attempt in between. */
  readonly waits: number
  /** How often each agent has waited for a limit whose end nobody names. */
  readonly endlessWaits: ReadonlyMap<string, number>
}

/** The state before any wait. */
export const NO_WAITS: Pick<TaskState, 'waits' | 'endlessWaits'> = { waits: 0, endlessWaits: new Map() }

/**
 * Works on one task in a slot until its work is ready to land, or there is none. `refused` is the failed attempt of a
 * refused landing, which another attempt follows.
 */
export async function runTask(
  run: Run,
  place: Place,
  start: Base,
  { task: chosen, refused }: { task: Task; refused: Failed | null },
): Promise<TaskEnd | Ready> {
  const { ports } = run
  const { emit } = place
  const { control } = ports
  const choices = await choicesFor(run, chosen)
  if (typeof choices === 'string') {
    emit({ type: 'task-given-up', id: chosen.id, title: chosen.title, reason: choices })
    return { kind: 'left', reason: choices }
  }
  const skipped = control.skipped(chosen.id)
  const over = AbortSignal.any([control.stopping, skipped])
  if (!refused) {
    await control.unpaused(over)
    // It has not begun: nothing is shown of it.
    if (control.isStopping) return ended(place, 'interrupted', 'the run was interrupted')
    emit(taskStarted(run, chosen, choices[0]))
  }
  const byHand = run.options.byHand ? (refused ? 'last' : 'new') : null
  let at: TaskState = { task: chosen, base: start, from: { kind: 'base' }, resume: null, byHand, ...NO_WAITS }
  if (!refused && byHand === null) at = await goingOn(run, place, at, choices[0])
  let choice: AgentChoice | null = choices[0]
  let current = choice.name
  for (let result = refused; ;) {
    if (result) {
      const next = await afterFailure(run, place, { at, choice, result })
      if ('kind' in next) return next
      at = next
    }
    await control.unpaused(over)
    if (at.from.kind === 'record') at = { ...at, task: taskNow(run, at.task) }
    // A person waits for no limit, and continues the conversation of that agent.
    const free: FreeAgent =
      at.byHand === null ? await freeAgent(run, choices, { id: chosen.id, over }) : choice
    if (control.isStopping) return ended(place, 'interrupted', 'the run was interrupted')
    if (free !== null && 'unable' in free) return ended(place, 'stopped', free.unable)
    choice = free
    if (skipped.aborted || !choice)
      return conclude(run, place, { task: at.task, reason: outcomeOfEnd({ kind: 'skipped' }).reason }, 'skip')
    if (choice.name !== current) emit({ type: 'warning', message: changeText(run, at.task, current, choice) })
    current = choice.name
    const unread = await unreadConfiguration(run, place, choice, at)
    if (unread !== null) return ended(place, 'stopped', unread)
    const made = await makeAttempt(run, place, at, choice)
    if (made.kind === 'stop' || made.kind === 'ready') return made
    const from: From = made.record ? { kind: 'record', commit: made.record.commit, tree: made.tree } : at.from
    const waits = made.decision.kind === 'wait' ? waited(at, choice, made.outcome) : NO_WAITS
    at = { ...at, from, ...waits, resume: made.resume }
    result = made
  }
}

function ended(place: Place, why: Extract<TaskEnd, { kind: 'stop' }>['why'], reason: string): TaskEnd {
  place.note.clear()
  return { kind: 'stop', why, reason }
}

/** Agents' ends that were no fault of theirs, and after which their conversations go on. */
const CUT_OFF: ReadonlySet<OutcomeKind> = new Set(['interrupted', 'rate-limited', 'no-network'])

/** The state from which an earlier run's attempt goes on, where that was cut off in this slot: else the same state. */
async function goingOn(run: Run, place: Place, at: TaskState, choice: AgentChoice): Promise<TaskState> {
  const { slot, work, emit } = place
  const last = run.ledger.seriesAt(at.task.id).at(-1)
  const isHere =
    last?.slot === slot.number && last.base === at.base.head && slot.isThere && !run.ports.workers
  if (!last?.session || !isHere || !CUT_OFF.has(last.outcome)) return at
  // A label may have the version too.
  if (last.agent.split(' ')[0] !== choice.name || !(await work.agent(choice)).resumes) return at
  const ports = attemptPorts(run, place)
  const problem = await slot.bringWork(last.tree, installing(ports, emit, 'work'))
  if (problem !== null) return at
  const { commit, tree, session, reason } = last
  const parts = run.ledger.attemptsAt(at.task.id).filter((record) => record.session === session)
  const used = totalUsage(parts.map(({ usage }) => usage))
  return {
    ...at,
    from: { kind: 'record', commit, tree },
    resume: { agent: choice.name, session, reason, used },
  }
}

/** Prepares the next attempt, in a work folder that is at its base or as the last attempt left it, and makes it. */
async function makeAttempt(
  run: Run,
  place: Place,
  at: TaskState,
  choice: AgentChoice,
): Promise<Ready | Failed | Extract<TaskEnd, { kind: 'stop' }>> {
  const { ports, ledger } = run
  const { slot, note, emit } = place
  const atHand = attemptPorts(run, place)
  const begun = await begunTree(at, ports.home.git)
  const isOurs = at.resume?.agent === choice.name
  const isResumed = isOurs && (ports.workers !== null || (await place.work.agent(choice)).resumes === true)
  const resume = isResumed ? at.resume : null
  const isFresh = at.from.kind === 'base' && resume === null
  const isOwn = isFresh && !ports.workers
  const problem = isOwn ? await slot.bringWork(begun, installing(atHand, emit, 'work')) : null
  if (problem !== null) return { kind: 'stop', why: 'stopped', reason: problem }
  // An earlier attempt may have written what a prompt is made from: then the clean room has the files of the base.
  if (!isOwn) await slot.bringFiles(await treeOf(ports.home.git, at.base.head))
  const side = isOwn ? slot.work : slot.check
  const left = run.reserve(at.task.id)
  const { job, warnings } = await prepare(
    { ...at, resume, choice, left, token: crypto.randomUUID().slice(0, 8) },
    {
      options: run.options,
      ledger,
      ports: {
        tierOf: ports.tierOf,
        reviewersFor: ports.reviewersFor,
        source: ports.source,
        prompt: ports.slots.prompt(side),
        origins: run.origins,
      },
    },
  )
  for (const message of warnings) emit({ type: 'warning', message })
  note.begin({ ...factsOfJob(job), startedAt: ports.now().toISOString(), blocking: null })
  ports.checkpoint('attempt-noted')
  const follow: Emit<Happening> = (event) => {
    if (event.type === 'agent-usage') note.update({ usage: event.usage })
    if (event.type === 'agent-session') note.update({ session: event.session, slot: slot.number })
    if (event.type === 'interference' && event.interference.kind === 'runs-later')
      ledger.addRunsLater(event.interference.paths)
    emit(event)
  }
  const result = ports.workers
    ? await ports.workers.attempt(job, atHand, follow)
    : await attempt(job, atHand, follow)
  if (result.kind === 'failed') {
    if (result.record) ledger.keep(result.record)
    note.spend(result.usage)
    return result
  }
  ledger.setIdleEnd(null)
  note.spend(result.candidate.usage)
  note.clear()
  return { kind: 'ready', job, passed: result }
}

/** What follows a failed attempt: the end of the task, or the state for another attempt. */
async function afterFailure(
  run: Run,
  place: Place,
  failed: { readonly at: TaskState; readonly choice: AgentChoice | null; readonly result: Failed },
): Promise<TaskEnd | TaskState> {
  const { at, choice, result } = failed
  const { task } = at
  const { decision, outcome } = result
  const { control } = run.ports
  if (at.byHand !== null) return afterByHand(run, place, failed, at.byHand)
  const ruined = sameAsBaseline(run, outcome)
  if (ruined !== null) return ended(place, 'stopped', ruined)
  const useless = choice && sameAsBefore(run, result.record)
  if (choice && useless) {
    run.ledger.useless(choice.name, useless)
    return at
  }
  switch (decision.kind) {
    case 'complete':
      throw new Error('an attempt is complete without a commit')
    case 'stop':
      if (control.isStopping) return ended(place, 'interrupted', decision.reason)
      return ended(place, decision.why, (decision.why === 'budget' && overBudget(run)) || decision.reason)
    case 'hand-over':
      return { ...at, byHand: result.session === null ? 'new' : { id: result.session } }
    case 'leave':
      return conclude(run, place, { task, reason: decision.reason }, 'skip')
    case 'wait':
      if (choice) run.ledger.limit(choice.name, decision)
      return at
    case 'retry': {
      const spent = overBudget(run)
      if (spent !== null) return ended(place, 'budget', spent)
      await pause(run, place, task, decision.pauseSeconds, outcome.reason)
      return at
    }
    case 'give-up': {
      const { reason, blocked } = decision
      const { record } = result
      const isIdle = isIdleFailure(record) && !blocked && run.options.onFailure === 'block'
      run.ledger.setIdleEnd(isIdle ? { task, reason, record } : null)
      if (isIdle) {
        place.note.clear()
        return { kind: 'idle' }
      }
      const end = await giveUp(run, place, { task, reason, isBlocked: blocked })
      if (end?.kind !== 'answered') return end ?? at
      return {
        task: end.task,
        base: end.base,
        from: { kind: 'base' },
        resume: null,
        byHand: null,
        ...NO_WAITS,
      }
    }
  }
}

const BACK = 'go back in'
const NOT_BACK = 'leave it as a failed attempt'

/** What follows an attempt by hand that does not pass: the person continues, or it counts as any failed attempt. */
async function afterByHand(
  run: Run,
  place: Place,
  failed: Parameters<typeof afterFailure>[2],
  byHand: Session,
): Promise<TaskEnd | TaskState> {
  const { at, result } = failed
  const { control } = run.ports
  const { reason } = result.outcome
  const isOver = control.isStopping || control.skipped(at.task.id).aborted
  if (!isOver && (await goesBackIn(run, place, at.task.id, reason)))
    return { ...at, byHand: byHand === 'new' ? 'last' : byHand }
  // A person who does a task by hand does not want an agent to continue alone.
  if (run.options.byHand && !control.isStopping)
    return conclude(run, place, { task: at.task, reason }, 'skip')
  return afterFailure(run, place, { ...failed, at: { ...at, byHand: null } })
}

async function goesBackIn(run: Run, { emit }: Place, id: string, reason: string): Promise<boolean> {
  const options = [BACK, NOT_BACK]
  return (
    (await askPerson(run, emit, { id, text: `${reason}. Go back in?`, options, isClosed: true })) === BACK
  )
}

/** Why the agent may not start before a person has read what agents of this run have written for it; null if it may. */
async function unreadConfiguration(
  { ports, ledger }: Run,
  { work, slot }: Place,
  choice: AgentChoice,
  { base, from }: Pick<TaskState, 'base' | 'from'>,
): Promise<string | null> {
  if (choice.permission.level === 'custom' || ledger.runsLater.length === 0) return null
  const { alwaysReads } = await work.agent(choice)
  const isThere = async (path: string): Promise<boolean> =>
    from.kind === 'record'
      ? existsSync(join(slot.work.folder.files, path))
      : (await textIn(ports.home.git, base.head, path)) !== null
  const obeyed: string[] = []
  for (const path of ledger.runsLater) if (alwaysReads?.(path) && (await isThere(path))) obeyed.push(path)
  if (obeyed.length === 0) return null
  return `${choice.name} would obey ${fewOf(obeyed)}, which an agent of this run has changed: read it, then run ralph again`
}

/** The message that another agent does the task now, and why. */
function changeText({ ports, ledger }: Run, { id }: Task, before: string, { name }: AgentChoice): string {
  const { until, reason } = ledger.limitOf(before)
  if (until === null) return `${name} continues ${id}: ${before} can do nothing more in this run (${reason})`
  if (until <= ports.now()) return `${name} continues ${id}: its wait is over`
  return `${name} continues ${id}: ${before} waits ${waitText(until, ports.now())} (${reason})`
}

/** The state after one more wait of that agent. */
export function waited(
  { waits, endlessWaits }: typeof NO_WAITS,
  { name }: AgentChoice,
  { hopeless }: Outcome,
): typeof NO_WAITS {
  const isEndless = hopeless === 'money' || hopeless === 'endless'
  const before = endlessWaits.get(name) ?? 0
  return {
    waits: waits + 1,
    endlessWaits: isEndless ? new Map([...endlessWaits, [name, before + 1]]) : endlessWaits,
  }
}

function taskStarted({ ports, options }: Run, task: Task, { label }: AgentChoice): Happening {
  const { tier, maxTurns, timeoutSeconds } = ports.tierOf(task)
  return {
    type: 'task-started',
    id: task.id,
    task: taskJson({ task, eligible: true, waiting: [] }, ports.tierOf),
    tasks: ports.source.tasks().length,
    tier,
    limits: {
      turns: options.maxTurns ?? maxTurns,
      seconds: options.timeoutSeconds ?? timeoutSeconds,
      attempts: options.retries + 1,
    },
    agent: label,
  }
}

/** The task as its file is now: a person may have committed another text between two attempts. */
function taskNow({ ports: { source } }: Run, task: Task): Task {
  const now = currentTask(source, task)
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

async function pause(run: Run, { emit }: Place, task: Task, seconds: number, reason: string): Promise<void> {
  const { now, sleep, control } = run.ports
  if (seconds === 0) return
  const until = new Date(now().getTime() + seconds * 1000).toISOString()
  emit({ type: 'waiting', id: task.id, until, reason: `before the next attempt: ${reason}` })
  await sleep(seconds * 1000, AbortSignal.any([control.stopping, control.skipped(task.id)]))
}

/** Why the run may use no more; null if it may. */
export function overBudget({ options, notes }: Pick<Run, 'options' | 'notes'>): string | null {
  return overLimit('the run', notes.spent, { usd: options.budget, tokens: options.maxTokens })
}
