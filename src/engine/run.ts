import { listRecords } from '../git/record.ts'
import { pushBranch } from '../git/remote.ts'
import { UserError } from '../base/errors.ts'
import { eachAmount, type Amounts } from '../base/usage.ts'
import { oneAtATime } from '../base/mutex.ts'
import type { Emitted, Happening, RunEvent } from './events/event.ts'
import { GitError } from '../git/git.ts'
import type { Base } from '../git/head.ts'
import { shareOf } from '../backlog/select/schedule.ts'
import { select } from '../backlog/select/selection.ts'
import { underLock } from './alone.ts'
import { controlAnswers, openControlDoor } from './control-socket.ts'
import { Jobs, type End, type Ends } from './jobs.ts'
import { openJournal, runId } from './journal.ts'
import { Ledger } from './ledger.ts'
import { NoteKeeper } from './note.ts'
import type { Emit, RunOptions, RunPorts } from './ports.ts'
import { branchToLandOn, refuseImpossible, refuseUnmatched } from './preflight.ts'
import { recover } from './recovery.ts'
import type { Run } from './run-parts.ts'
import { openBranch } from './slot/branch.ts'
import { choicesFor } from './task.ts'
import { lastTrusted } from './trust.ts'

/** Runs tasks until there is a reason to end, which the last event names. Throws only what a person must act on first. */
export async function runTasks(options: RunOptions, ports: RunPorts, show: Emit<RunEvent>): Promise<void> {
  try {
    await underLock(ports.folder, ports, async () => {
      ports.checkpoint('lock-taken')
      const id = runId(ports.now())
      await listening(ports, { id, show }, (emit) => go(options, ports, { id, emit }))
    })
  } catch (error) {
    throw explained(error)
  } finally {
    await ports.workers?.end()
  }
}

/** Turns what git or the system refuses (a full disk, a lock, missing rights) into an error for a person: it is no bug. */
function explained(error: unknown): unknown {
  const isSystem = error instanceof Error && 'syscall' in error && 'code' in error
  if (!(error instanceof GitError) && !isSystem) return error
  return new UserError(
    error.message,
    'When that is solved, the next ralph run goes on from here: nothing is lost.',
  )
}

/** Gives each event its time, and passes it to the journal before all others. */
async function listening(
  ports: RunPorts,
  { id, show }: { id: string; show: Emit<RunEvent> },
  work: (emit: Emit<Emitted>) => Promise<void>,
): Promise<void> {
  const { control, folder, source, now } = ports
  const journal = openJournal(folder.logs, id)
  const emit: Emit<Emitted> = (happening) => {
    const event: RunEvent = { at: now().toISOString(), ...happening }
    journal(event)
    show(event)
  }
  const forget = control.listen(emit)
  const ids = (): readonly string[] => source.tasks().map((task) => task.id)
  const closeDoor = await openControlDoor(folder, ports.env, controlAnswers(control, ids, ports.workers))
  try {
    if (control.stopMode) emit({ type: 'stopping', how: control.stopMode })
    await work(emit)
  } finally {
    closeDoor()
    forget()
  }
}

/** Prepares a run, works on tasks, and says how it ended. */
async function go(
  options: RunOptions,
  ports: RunPorts,
  { id, emit }: { id: string; emit: Emit<Emitted> },
): Promise<void> {
  const startedAt = ports.now()
  await refuseImpossible(ports)
  await refuseUnmatched(options, ports.home)
  const name = await branchToLandOn(options, ports.home)
  const left = await recover(ports, name, emit)
  const keeper: { notes: NoteKeeper | null } = { notes: null }
  const own = openBranch(ports.home, name, (move) => keeper.notes?.moving(move))
  if (ports.workers) {
    if (name === null)
      throw new UserError(
        'HEAD is detached, so workers have no branch to fetch',
        'Switch to one: git switch main',
      )
    await ports.workers.begin({ id, branch: name, emit })
  }
  const branch = ports.workers?.shared(own) ?? own
  const start = await branch.tip()
  await ports.source.at(start.head)
  const notes = new NoteKeeper(
    ports.folder.note,
    { mark: ports.mark, spentUsd: left.spent.usd, spentTokens: left.spent.tokens, jobs: left.toBlock },
    ports.now,
  )
  keeper.notes = notes
  const forget = ports.onStarted((processes) => notes.started(processes))
  const ends: Ends = { completed: [], blocked: [], failed: [], held: [] }
  const run: Run = {
    options,
    ports,
    branch,
    notes,
    emit,
    ledger: new Ledger(await listRecords(ports.home.git)),
    origins: ports.origins,
    inTurn: oneAtATime(),
    inForce: (tip) => lastTrusted(ports.home, tip),
    ...reserves(options, notes, () => Math.min(options.jobs, ports.workers?.places ?? options.jobs)),
  }
  const finish = (end: End): void =>
    emit({
      type: 'run-finished',
      ...ends,
      waiting: countWaiting(ports),
      ...end,
      seconds: (ports.now().getTime() - startedAt.getTime()) / 1000,
      cost: notes.spent.usd,
    })
  try {
    ports.checkpoint('run-noted')
    emit(await runStarted(run, start, id))
    ports.workers?.listen(emit)
    for (const message of ports.warnings) emit({ type: 'warning', message })
    const end = await new Jobs(run, ends).work(left.toBlock)
    finish(await push(run, ends, end))
    ports.checkpoint('candidates-dropped')
  } catch (error) {
    // Observers of the events learn of the end too; the error itself goes to the caller.
    finish({ end: 'failed', reason: 'an error ended the run' })
    throw error
  } finally {
    forget()
    // After a throw in the middle of a task the note stays, so that the next run knows what to record.
    notes.end()
  }
  ports.checkpoint('run-cleared')
}

/** Shares the limits among the jobs: each gets a part of what nobody else has reserved. */
function reserves(
  { budget, maxTokens }: RunOptions,
  notes: NoteKeeper,
  jobs: () => number,
): Pick<Run, 'reserve' | 'release'> {
  const limits: Amounts = { usd: budget, tokens: maxTokens }
  const reserved = new Map<string, Amounts>()
  return {
    reserve(task) {
      reserved.delete(task)
      const others = [...reserved.values()]
      const share = eachAmount((kind) => {
        if (limits[kind] === null) return null
        const taken = others.flatMap((one) => one[kind] ?? [])
        return shareOf({ budget: limits[kind], spent: notes.spent[kind] ?? 0, reserved: taken, jobs: jobs() })
      })
      reserved.set(task, share)
      return share
    },
    release: (task) => void reserved.delete(task),
  }
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
    root: ports.folder.root,
    branch: base.branch,
    head: base.head,
    agent: typeof choices === 'string' ? '' : choices[0].label,
    gates: options.gates,
    sandbox: ports.sandbox,
    loop: options.loop,
    jobs: options.jobs,
    counts,
    budget: options.budget,
    queue: ports.workers?.url ?? null,
  }
}

async function push({ options, ports, emit }: Run, ends: Ends, end: End): Promise<End> {
  const isNothing = ends.completed.length + ends.blocked.length === 0
  if (!options.push || options.branch !== null || ports.workers || isNothing) return end
  const result = await pushBranch(ports.home.git)
  if ('branch' in result) {
    emit({ type: 'pushed', branch: result.branch })
    return end
  }
  const reason = `all of it is committed here, but git did not push: ${result.problem}`
  if (end.end === 'done') return { end: 'not-pushed', reason }
  emit({ type: 'warning', message: reason })
  return end
}
