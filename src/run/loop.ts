import { statSync, writeFileSync } from 'node:fs'
import { UserError } from '../base/errors.ts'
import { GitError } from '../git/git.ts'
import type { Base } from '../git/restore.ts'
import { select } from '../select/selection.ts'
import type { Task } from '../task/model.ts'
import type { AttemptRecord } from '../git/record.ts'
import { runBaseline } from './baseline.ts'
import { chooseTask } from './choose-task.ts'
import type { Happening, RunEnd, RunEvent } from '../events/event.ts'
import { Flight } from './flight.ts'
import { block } from './give-up.ts'
import type { TaskRunEnd } from './give-up.ts'
import type { AttemptInFlight } from './in-flight.ts'
import { runJournal } from './journal.ts'
import { takeLock } from './lock.ts'
import type { RunOptions, RunPorts } from './ports.ts'
import { preflight } from './preflight.ts'
import { recover } from './recovery.ts'
import { makeRunFolder } from './run-folder.ts'
import type { Run } from './run.ts'
import { stateKeeper } from './state.ts'
import { sayingWhenStopping } from './stopping.ts'
import { agentsOf, overBudget, runTask } from './task-run.ts'

/** Runs tasks until there is a reason to end; the last event says which. Throws only what a person must act on first. */
export async function* runLoop(options: RunOptions, ports: RunPorts): AsyncGenerator<RunEvent, void> {
  try {
    makeRunFolder(ports.folder)
    const lock = await takeLock(ports.folder.lock, { pid: ports.pid, now: ports.now() })
    try {
      ports.checkpoint('lock-taken')
      yield* told(ports, sayingWhenStopping(go(options, ports), ports.signal))
    } finally {
      lock.release()
    }
  } catch (error) {
    throw explained(error)
  }
}

/** What git or the system refuses (a full disk, a lock, no right to write) is a person's to act on, and no bug. */
function explained(error: unknown): unknown {
  const isSystem = error instanceof Error && 'syscall' in error && 'code' in error
  if (!(error instanceof GitError) && !isSystem) return error
  return new UserError(
    error.message,
    'Once that is mended, the next ralph run goes on from here: nothing is lost.',
  )
}

/** Gives each happening its time, and hands it to the journal and the state before anybody else. */
async function* told(
  ports: RunPorts,
  happenings: AsyncGenerator<Happening, void>,
): AsyncGenerator<RunEvent, void> {
  const journal = runJournal(ports.folder.logs, ports.now())
  const keepState = stateKeeper(ports.folder.state, ports.source.tasks(), ports.now())
  for await (const happening of happenings) {
    const event: RunEvent = { at: ports.now(), ...happening }
    journal(event)
    keepState(event)
    yield event
  }
}

async function* go(options: RunOptions, ports: RunPorts): AsyncGenerator<Happening, void> {
  const startedAt = ports.now()
  const cleanSince = statSync(ports.folder.lock).ctimeMs
  const inherited = yield* recover(ports)
  const start = await preflight(options, ports)
  const ignored = await ports.workspace.ignoredNow()
  ports.workspace.protect({ ignored, since: cleanSince })
  writeFileSync(ports.folder.ignored, ignored.join('\0'))
  await ports.source.refresh()
  const { gaveUp } = inherited
  const toBlock = gaveUp?.phase === 'blocking' || options.onFailure === 'block' ? gaveUp : null
  const flight = new Flight(ports.folder.inFlight, {
    mark: ports.mark,
    cleanSince,
    spentUsd: inherited.spentUsd,
    attempt: toBlock ?? inherited.unsealed,
    now: ports.now,
  })
  try {
    ports.checkpoint('run-noted')
    const run: Run = {
      options,
      ports,
      flight,
      attempts: byTask(await ports.attempts()),
      limitedUntil: new Map(),
      refs: await ports.workspace.refs(),
      failedBefore: [],
      litter: new Set(),
    }
    const tally: Tally = { completed: [], blocked: [], failed: [] }
    yield await runStarted(run, start)
    for (const message of ports.warnings) yield { type: 'warning', message }
    const finished = (end: End): Happening => ({
      type: 'run-finished',
      ...tally,
      waiting: countWaiting(ports),
      ...end,
      seconds: (ports.now().getTime() - startedAt.getTime()) / 1000,
      cost: flight.spentUsd,
    })
    let end: End
    try {
      end = yield* push(run, tally, yield* work(run, start, { tally, toBlock }))
    } catch (error) {
      // Whoever follows only the events hears of the end too; the error itself is for the one who called.
      yield finished({ end: 'failed', reason: 'an error ended the run' })
      throw error
    }
    yield finished(end)
  } finally {
    // After a throw in the middle of a task the note stays for the next run, which then knows what to record.
    flight.end()
  }
  ports.checkpoint('run-cleared')
}

function countWaiting({ source }: RunPorts): number {
  return select(source.tasks()).states.filter(({ task, eligible }) => task.status === 'TODO' && !eligible)
    .length
}

interface Tally {
  readonly completed: string[]
  readonly blocked: string[]
  readonly failed: string[]
}

interface End {
  readonly end: RunEnd
  readonly reason: string
}

async function runStarted(run: Run, base: Base): Promise<Happening> {
  const { ports, options } = run
  const next = select(ports.source.tasks()).next
  const choices = next ? await agentsOf(run, next) : ''
  return {
    type: 'run-started',
    root: ports.workspace.root,
    branch: base.branch,
    head: base.head,
    agent: typeof choices === 'string' ? '' : choices[0].label,
    gates: options.gates,
    loop: options.loop,
  }
}

/** The sentence: while there is a task, work on it, and begin the next where it ended. */
async function* work(
  run: Run,
  start: Base,
  { tally, toBlock }: { readonly tally: Tally; readonly toBlock: AttemptInFlight | null },
): AsyncGenerator<Happening, End> {
  const { options } = run
  let base = start
  if (toBlock) {
    const blocked = yield* finishBlocking(run, base, { tally, toBlock })
    if ('end' in blocked) return blocked
    base = blocked
  }
  if (!(yield* runBaseline(run, base)))
    return { end: 'stopped', reason: 'the gates fail before any work has begun' }
  for (let tried = 0; ; tried++) {
    const limit = options.loop ? (options.maxTasks ?? Infinity) : 1
    const over = reasonToEnd(run, tried, limit)
    if (over) return over
    const taken = new Set([...tally.completed, ...tally.blocked, ...tally.failed])
    const choice = chooseTask(run, taken)
    if (typeof choice === 'string') return nothingToDo(run, tried, choice)
    const end = yield* runTask(run, choice, base)
    if (end.kind === 'stop') {
      if (end.why !== 'interrupted') tally.failed.push(choice.id)
      return { end: end.why, reason: end.reason }
    }
    base = yield* enter(run, choice, { end, base, tally })
  }
}

function reasonToEnd(run: Run, tried: number, limit: number): End | null {
  if (run.ports.signal.aborted) return { end: 'interrupted', reason: 'the run was interrupted' }
  const spent = overBudget(run)
  if (spent !== null) return { end: 'budget', reason: spent }
  if (tried < limit) return null
  return { end: 'done', reason: limit === 1 ? 'one task, as asked' : `${limit} tasks, as asked` }
}

function nothingToDo({ options }: Run, tried: number, reason: string): End {
  return { end: tried > 0 && options.task === null ? 'done' : 'nothing-eligible', reason }
}

/** Enters how a task ended, and gives where the next one begins. */
async function* enter(
  run: Run,
  task: Task,
  {
    end,
    base,
    tally,
  }: { readonly end: Exclude<TaskRunEnd, { kind: 'stop' }>; readonly base: Base; readonly tally: Tally },
): AsyncGenerator<Happening, Base> {
  const { ports, flight } = run
  switch (end.kind) {
    case 'left':
      tally.failed.push(task.id)
      return base
    case 'blocked':
      tally.blocked.push(task.id)
      await ports.source.refresh([task.file])
      return { ...base, head: end.commit }
    case 'completed': {
      const { completed } = end
      tally.completed.push(task.id)
      if (!completed.sealPending) flight.landSoon()
      ports.checkpoint('entered')
      await ports.source.refresh(completed.taskFiles)
      const { commit, seconds, attempts, usage, files, added, removed } = completed
      const size = { files, added, removed }
      const numbers = { seconds, attempts, turns: usage.turns, cost: usage.costUsd, usage }
      if (ports.source.tasks().find(({ id }) => id === task.id)?.status !== 'DONE')
        yield { type: 'warning', message: notDone(task) }
      yield { type: 'task-completed', id: task.id, title: task.title, commit, ...numbers, ...size }
      yield* milestone(run, task)
      return { ...base, head: commit }
    }
  }
}

function notDone({ id, file }: Task): string {
  return `${file} does not say DONE after its commit: a hook may have changed it, and then each run does ${id} again`
}

async function* milestone({ ports }: Run, task: Task): AsyncGenerator<Happening, void> {
  if (task.milestone === null) return
  const siblings = ports.source.tasks().filter((other) => other.milestone === task.milestone)
  if (siblings.every((sibling) => sibling.status === 'DONE'))
    yield { type: 'milestone-completed', milestone: task.milestone, tasks: siblings.length }
}

/** The run before this one had given up on a task, and died before it could write that down. */
async function* finishBlocking(
  run: Run,
  base: Base,
  { tally, toBlock }: { readonly tally: Tally; readonly toBlock: AttemptInFlight },
): AsyncGenerator<Happening, Base | End> {
  const task = run.ports.source.tasks().find(({ id }) => id === toBlock.task)
  if (task?.status !== 'TODO') {
    run.flight.land()
    return base
  }
  run.flight.begin({ ...toBlock, base })
  const end = yield* block(run, { task, base, reason: toBlock.reason ?? 'it was given up' })
  if (end.kind === 'stop') {
    tally.failed.push(task.id)
    return { end: end.why, reason: end.reason }
  }
  if (end.kind !== 'blocked') return base
  tally.blocked.push(task.id)
  await run.ports.source.refresh([task.file])
  return { ...base, head: end.commit }
}

async function* push({ options, ports }: Run, tally: Tally, end: End): AsyncGenerator<Happening, End> {
  if (!options.push || tally.completed.length + tally.blocked.length === 0) return end
  const result = await ports.push()
  if ('branch' in result) {
    yield { type: 'pushed', branch: result.branch }
    return end
  }
  const reason = `all of it is committed here, but git did not push: ${result.problem}`
  if (end.end === 'done') return { end: 'not-pushed', reason }
  yield { type: 'warning', message: reason }
  return end
}

function byTask(records: readonly AttemptRecord[]): Map<string, AttemptRecord[]> {
  const map = new Map<string, AttemptRecord[]>()
  for (const record of records) {
    const list = map.get(record.task)
    if (list) list.push(record)
    else map.set(record.task, [record])
  }
  return map
}
