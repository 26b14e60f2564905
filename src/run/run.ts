import { statSync } from 'node:fs'
import { UserError } from '../base/errors.ts'
import type { Emit } from '../attempt/ports.ts'
import type { Emitted, Happening, RunEvent } from '../events/event.ts'
import { GitError } from '../git/git.ts'
import type { Base } from '../git/head.ts'
import { select } from '../select/selection.ts'
import { underLock } from './alone.ts'
import { beginApart, type ApartStart } from './apart.ts'
import { runBaseline } from './baseline.ts'
import { landCandidates } from './candidates.ts'
import { chooseTask } from './choose-task.ts'
import { controlAnswers, openControlDoor } from './control-socket.ts'
import { enter, finishBlocking, nothingToDo, type End, type GivenUp, type Tally } from './enter.ts'
import { openJournal, runId } from './journal.ts'
import { Ledger } from './ledger.ts'
import { NoteKeeper, type RunNote } from './note.ts'
import type { RunOptions, RunPorts } from './ports.ts'
import { adoptCheckout, preflight } from './preflight.ts'
import { recover } from './recovery.ts'
import { stateKeeper } from './state.ts'
import { choicesFor, overBudget, runTask, type Run } from './task.ts'
import { workTogether } from './together.ts'

/** Runs tasks until there is a reason to end, which the last event names. Throws only what a person must act on first. */
export async function runTasks(options: RunOptions, ports: RunPorts, show: Emit<RunEvent>): Promise<void> {
  try {
    await underLock(ports.folder, { pid: ports.pid, now: ports.now() }, async () => {
      ports.checkpoint('lock-taken')
      const id = runId(ports.now())
      await listening(ports, { id, show }, (emit) => go(options, ports, { id, emit }))
    })
  } catch (error) {
    throw explained(error)
  } finally {
    await ports.elsewhere?.end()
  }
}

/** Turns what git or the system refuses (a full disk, a lock, missing rights) into an error for a person: it is no bug. */
function explained(error: unknown): unknown {
  const isSystem = error instanceof Error && 'syscall' in error && 'code' in error
  if (!(error instanceof GitError) && !isSystem) return error
  return new UserError(
    error.message,
    'Once that is mended, the next ralph run goes on from here: nothing is lost.',
  )
}

/** Gives each event its time, and passes it to the journal and the state before all others. */
async function listening(
  ports: RunPorts,
  { id, show }: { readonly id: string; readonly show: Emit<RunEvent> },
  work: (emit: Emit<Emitted>) => Promise<void>,
): Promise<void> {
  const { control, folder, source, now } = ports
  const journal = openJournal(folder.logs, id)
  const keepState = stateKeeper(folder, source.tasks(), now())
  let reopen = (): void => undefined
  const emit: Emit<Emitted> = (happening) => {
    const event: RunEvent = { at: now().toISOString(), ...happening }
    journal(event)
    keepState(event)
    show(event)
    // From here on commands may come in, and an agent may have removed the socket.
    if (event.type === 'question' || event.type === 'attempt-finished') reopen()
  }
  const forget = control.listen(emit)
  const ids = (): readonly string[] => source.tasks().map((task) => task.id)
  const door = await openControlDoor(folder, ports.env, controlAnswers(control, ids))
  reopen = () => door?.ensure()
  try {
    if (control.stopMode) emit({ type: 'stopping', how: control.stopMode })
    await work(emit)
  } finally {
    door?.close()
    forget()
  }
}

async function go(
  options: RunOptions,
  outer: RunPorts,
  { id, emit }: { readonly id: string; readonly emit: Emit<Emitted> },
): Promise<void> {
  const startedAt = outer.now()
  const cleanSince = statSync(outer.folder.lock).ctimeMs
  const inherited = await recover(options, outer, emit)
  outer.workspace.restore.leave()
  const keeper: { note: NoteKeeper | null } = { note: null }
  const begun = await begin(options, outer, { id, note: (move) => keeper.note?.moving(move), emit })
  const { start, ports } = begun
  const left = leftBy(inherited, options)
  const note = new NoteKeeper(
    ports.folder.note,
    {
      mark: ports.mark,
      cleanSince,
      isApart: begun.trunk !== null,
      spentUsd: inherited.spentUsd,
      ...left.noted,
    },
    ports.now,
  )
  keeper.note = note
  const forget = ports.onStarted((processes) => note.started(processes))
  try {
    ports.checkpoint('run-noted')
    const ledger = new Ledger(await ports.records())
    const run: Run = { options, ports, note: note.of('checkout'), ledger, emit, together: null }
    const tally: Tally = { completed: [], blocked: [], failed: [], held: [] }
    emit(await runStarted(run, start, id))
    ports.elsewhere?.listen(emit)
    for (const message of [...ports.warnings, ...begun.warnings]) emit({ type: 'warning', message })
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
      const { toBlock } = left
      end = begun.trunk
        ? await workTogether({ ...run, note, trunk: begun.trunk, start, tally, toBlock })
        : await work(run, start, { tally, toBlock })
      end = await push(run, tally, end)
      // The note comes first: while it exists, a candidate proves that the commit holds what was checked.
      note.flush()
      await ports.workspace.record.removeDropped()
      ports.checkpoint('candidates-dropped')
    } catch (error) {
      // Observers of the events learn of the end too; the error itself goes to the caller.
      finish({ end: 'failed', reason: 'an error ended the run' })
      throw error
    }
    finish(end)
  } finally {
    forget()
    // After a throw in the middle of a task the note stays, so that the next run knows what to record.
    note.end()
  }
  outer.checkpoint('run-cleared')
}

/** What a dead run has left to do, and the note about it until it is done. */
function leftBy(
  { gaveUp, unsealed, jobs }: Awaited<ReturnType<typeof recover>>,
  { onFailure, apart }: RunOptions,
): { readonly noted: Pick<RunNote, 'attempt' | 'jobs'>; readonly toBlock: readonly GivenUp[] } {
  const isToBlock = ({ attempt }: GivenUp): boolean => attempt.phase === 'blocking' || onFailure === 'block'
  const ofCheckout: readonly GivenUp[] = gaveUp ? [{ workspace: 'checkout', attempt: gaveUp }] : []
  const toBlock = [...ofCheckout, ...jobs].filter(isToBlock)
  // If the jobs run elsewhere, no note is about the checkout, whose files are the person's.
  if (apart) return { noted: { attempt: null, jobs: jobs.filter(isToBlock) }, toBlock }
  return { noted: { attempt: toBlock[0]?.attempt ?? unsealed, jobs: [] }, toBlock }
}

/** Ensures that the run can begin, in the checkout or apart from it. */
async function begin(
  options: RunOptions,
  ports: RunPorts,
  begun: Parameters<typeof beginApart>[2],
): Promise<Omit<ApartStart, 'trunk'> & { readonly trunk: ApartStart['trunk'] | null }> {
  const { apart } = options
  if (apart) return beginApart({ ...options, apart }, ports, begun)
  const start = await preflight(options, ports)
  await adoptCheckout(ports)
  await ports.source.refresh()
  return { start, ports, trunk: null, warnings: [] }
}

function countWaiting({ source }: RunPorts): number {
  return select(source.tasks()).states.filter(({ task, eligible }) => task.status === 'TODO' && !eligible)
    .length
}

async function runStarted(run: Run, base: Base, id: string): Promise<Happening> {
  const { ports, options } = run
  const { next, counts } = select(ports.source.tasks())
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
    sandbox: ports.sandbox,
    loop: options.loop,
    jobs: options.apart?.jobs ?? 1,
    counts,
    budget: options.budget,
    queue: ports.elsewhere?.url ?? null,
  }
}

/** The main loop: while there is a task, work on it, and begin the next one on its result. */
async function work(
  run: Run,
  start: Base,
  { tally, toBlock }: { readonly tally: Tally; readonly toBlock: readonly GivenUp[] },
): Promise<End> {
  const { options } = run
  let base = await landCandidates(run, start, (end) => enter(run, end, tally))
  for (const one of toBlock) {
    const blocked = await finishBlocking(run, base, { tally, toBlock: one.attempt })
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
    if (end.kind === 'ready') throw new Error('work in the checkout lands at once')
    if (end.kind === 'stop') {
      if (end.why !== 'interrupted') tally.failed.push(choice.id)
      return { end: end.why, reason: end.reason }
    }
    const next = await enter(run, { ...end, id: choice.id }, tally)
    // A commit of a person may have changed any task.
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

async function push({ options, ports, emit }: Run, tally: Tally, end: End): Promise<End> {
  if (
    !options.push ||
    options.apart?.branch ||
    ports.elsewhere ||
    tally.completed.length + tally.blocked.length === 0
  )
    return end
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
