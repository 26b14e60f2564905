import { statSync } from 'node:fs'
import { UserError } from '../base/errors.ts'
import type { Emit } from '../attempt/ports.ts'
import type { Happening, RunEnd, RunEvent } from '../events/event.ts'
import { GitError } from '../git/git.ts'
import type { Base } from '../git/head.ts'
import { select } from '../select/selection.ts'
import type { Task } from '../task/model.ts'
import { underLock } from './alone.ts'
import { runBaseline } from './baseline.ts'
import { landCandidates } from './candidates.ts'
import { chooseTask } from './choose-task.ts'
import { block, setAside, type TaskRunEnd } from './give-up.ts'
import { openJournal, runId } from './journal.ts'
import { Ledger } from './ledger.ts'
import { NoteKeeper, type AttemptNote } from './note.ts'
import type { RunOptions, RunPorts } from './ports.ts'
import { adoptCheckout, preflight } from './preflight.ts'
import { recover } from './recovery.ts'
import { stateKeeper } from './state.ts'
import { choicesFor, overBudget, runTask, type Run } from './task.ts'

/** Runs tasks until there is a reason to end; the last event says which. Throws only what a person must act on first. */
export async function runTasks(options: RunOptions, ports: RunPorts, show: Emit<RunEvent>): Promise<void> {
  try {
    await underLock(ports.folder, { pid: ports.pid, now: ports.now() }, async () => {
      ports.checkpoint('lock-taken')
      const id = runId(ports.now())
      await listening(ports, { id, show }, (emit) => go(options, ports, { id, emit }))
    })
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

/** Gives each event its time, and hands it to the journal and the state before anybody else. */
async function listening(
  ports: RunPorts,
  { id, show }: { readonly id: string; readonly show: Emit<RunEvent> },
  work: (emit: Emit<Happening>) => Promise<void>,
): Promise<void> {
  const { control, folder, source, now } = ports
  const journal = openJournal(folder.logs, id)
  const keepState = stateKeeper(folder, source.tasks(), now())
  const emit: Emit<Happening> = (happening) => {
    const event: RunEvent = { at: now().toISOString(), ...happening }
    journal(event)
    keepState(event)
    show(event)
  }
  const forget = control.listen(emit)
  try {
    if (control.isStopping) emit({ type: 'stopping' })
    await work(emit)
  } finally {
    forget()
  }
}

async function go(
  options: RunOptions,
  ports: RunPorts,
  { id, emit }: { readonly id: string; readonly emit: Emit<Happening> },
): Promise<void> {
  const startedAt = ports.now()
  const cleanSince = statSync(ports.folder.lock).ctimeMs
  const inherited = await recover(options, ports, emit)
  ports.workspace.restore.leave()
  const start = await preflight(options, ports)
  await adoptCheckout(ports)
  await ports.source.refresh()
  const { gaveUp } = inherited
  const toBlock = gaveUp?.phase === 'blocking' || options.onFailure === 'block' ? gaveUp : null
  const note = new NoteKeeper(
    ports.folder.note,
    {
      mark: ports.mark,
      cleanSince,
      spentUsd: inherited.spentUsd,
      attempt: toBlock ?? inherited.unsealed,
    },
    ports.now,
  )
  const forget = ports.onStarted((processes) => note.started(processes))
  try {
    ports.checkpoint('run-noted')
    const run: Run = { options, ports, note, ledger: new Ledger(await ports.records()), emit }
    const tally: Tally = { completed: [], blocked: [], failed: [] }
    emit(await runStarted(run, start, id))
    for (const message of ports.warnings) emit({ type: 'warning', message })
    const finish = (end: End): void =>
      emit({
        type: 'run-finished',
        ...tally,
        waiting: countWaiting(ports),
        ...end,
        seconds: (ports.now().getTime() - startedAt.getTime()) / 1000,
        cost: note.spentUsd,
      })
    let end: End
    try {
      end = await push(run, tally, await work(run, start, { tally, toBlock }))
      // First the note: while it stands the candidate says that the commit holds what was checked.
      note.flush()
      await ports.workspace.record.removeDropped()
      ports.checkpoint('candidates-dropped')
    } catch (error) {
      // Whoever follows only the events hears of the end too; the error itself is for the one who called.
      finish({ end: 'failed', reason: 'an error ended the run' })
      throw error
    }
    finish(end)
  } finally {
    forget()
    // After a throw in the middle of a task the note stays for the next run, which then knows what to record.
    note.end()
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

async function runStarted(run: Run, base: Base, id: string): Promise<Happening> {
  const { ports, options } = run
  const { next } = select(ports.source.tasks())
  const choices = next ? await choicesFor(run, next) : ''
  return {
    type: 'run-started',
    version: 1,
    run: id,
    root: ports.workspace.root,
    branch: base.branch,
    head: base.head,
    agent: typeof choices === 'string' ? '' : choices[0].label,
    gates: options.gates,
    loop: options.loop,
  }
}

/** The sentence: while there is a task, work on it, and begin the next where it ended. */
async function work(
  run: Run,
  start: Base,
  { tally, toBlock }: { readonly tally: Tally; readonly toBlock: AttemptNote | null },
): Promise<End> {
  const { options } = run
  let base = await landCandidates(run, start, (end) => enter(run, end, tally))
  if (toBlock) {
    const blocked = await finishBlocking(run, base, { tally, toBlock })
    if ('end' in blocked) return blocked
    base = blocked
  }
  const limit = options.loop ? (options.maxTasks ?? Infinity) : 1
  for (let tried = 0; ; tried++) {
    const over = reasonToEnd(run, tried, limit)
    if (over) return over
    const choice = chooseTask(run, new Set([...tally.completed, ...tally.blocked, ...tally.failed]))
    if (typeof choice === 'string') return nothingToDo(run, choice)
    const objection = tried === 0 ? await runBaseline(run, base) : null
    if (objection !== null) return { end: 'stopped', reason: objection }
    const end = await runTask(run, choice, base)
    if (end.kind === 'stop') {
      if (end.why !== 'interrupted') tally.failed.push(choice.id)
      return { end: end.why, reason: end.reason }
    }
    const next = await enter(run, { ...end, id: choice.id }, tally)
    // What a person has committed meanwhile may have changed any task.
    if (end.kind === 'completed' && end.landed.work.base.head !== base.head) await run.ports.source.refresh()
    base = next
  }
}

function reasonToEnd(run: Run, tried: number, limit: number): End | null {
  if (run.ports.control.isStopping) return { end: 'interrupted', reason: 'the run was interrupted' }
  const spent = overBudget(run)
  if (spent !== null) return { end: 'budget', reason: spent }
  if (tried < limit) return null
  return { end: 'done', reason: limit === 1 ? 'one task, as asked' : `${limit} tasks, as asked` }
}

/** A loop was to do every task: where all are done it has nothing left to do, and where not it could not do it. */
function nothingToDo({ options, ports }: Run, reason: string): End {
  const isAllDone = ports.source.tasks().every(({ status }) => status === 'DONE')
  return { end: options.loop && isAllDone ? 'done' : 'nothing-eligible', reason }
}

/** Enters how a task ended, and gives where the next one begins. */
async function enter(
  run: Run,
  end: Exclude<TaskRunEnd, { kind: 'stop' }> & { readonly id: string },
  tally: Tally,
): Promise<Base> {
  const { ports } = run
  const task = ports.source.tasks().find(({ id }) => id === end.id)
  switch (end.kind) {
    case 'left':
      tally.failed.push(end.id)
      return end.base
    case 'blocked':
      tally.blocked.push(end.id)
      if (task) await ports.source.refresh([task.file])
      return end.base
    case 'completed':
      tally.completed.push(end.id)
      if (task) await enterCompleted(run, task, end)
      return end.base
  }
}

async function enterCompleted(
  run: Run,
  task: Task,
  { landed, candidate }: Extract<TaskRunEnd, { kind: 'completed' }>,
): Promise<void> {
  const { ports, note, ledger, emit } = run
  if (!landed.sealPending) {
    note.clearSoon()
    ports.workspace.record.dropCandidate(candidate)
    ports.checkpoint('entered')
  }
  const { prefix } = ports.workspace
  const changes = landed.work.changes.flatMap(({ path, kind }) => {
    const file = path.startsWith(prefix) ? path.slice(prefix.length) : ''
    return ports.source.isTask(file) ? [{ file, kind }] : []
  })
  ledger.addedTasks += changes.filter(({ kind, file }) => kind === 'new' && file !== task.file).length
  await ports.source.refresh([task.file, ...changes.map(({ file }) => file)])
  const { commit, files, added, removed, sums } = landed
  const { usage, seconds, attempts } = sums
  if (ports.source.tasks().find(({ id }) => id === task.id)?.status !== 'DONE')
    emit({ type: 'warning', message: notDone(task) })
  emit({
    type: 'task-completed',
    id: task.id,
    title: task.title,
    commit,
    duration: seconds + landed.seconds,
    attempts,
    turns: usage.turns,
    cost: usage.costUsd,
    usage,
    files,
    added,
    removed,
  })
  setAside(run, landed.left, 'left by git hooks')
  emitMilestone(run, task)
}

function notDone({ id, file }: Task): string {
  return `${file} does not say DONE after its commit: a hook may have changed it, and then each run does ${id} again`
}

function emitMilestone({ ports, emit }: Run, { milestone }: Task): void {
  if (milestone === null) return
  const siblings = ports.source.tasks().filter((other) => other.milestone === milestone)
  if (siblings.every((sibling) => sibling.status === 'DONE'))
    emit({ type: 'milestone-completed', milestone, tasks: siblings.length })
}

/** The run before this one had given up on a task, and died before it could write that down. */
async function finishBlocking(
  run: Run,
  base: Base,
  { tally, toBlock }: { readonly tally: Tally; readonly toBlock: AttemptNote },
): Promise<Base | End> {
  const task = run.ports.source.tasks().find(({ id }) => id === toBlock.task)
  if (task?.status !== 'TODO') {
    run.note.clear()
    return base
  }
  run.note.begin({ ...toBlock, base })
  const end = await block(run, { task, base, reason: toBlock.reason ?? 'it was given up' })
  if (end.kind !== 'stop') return enter(run, { ...end, id: task.id }, tally)
  tally.failed.push(task.id)
  return { end: end.why, reason: end.reason }
}

async function push({ options, ports, emit }: Run, tally: Tally, end: End): Promise<End> {
  if (!options.push || tally.completed.length + tally.blocked.length === 0) return end
  const result = await ports.push()
  if ('branch' in result) {
    emit({ type: 'pushed', branch: result.branch })
    return end
  }
  const reason = `all of it is committed here, but git did not push: ${result.problem}`
  if (end.end === 'done') return { end: 'not-pushed', reason }
  emit({ type: 'warning', message: reason })
  return end
}
