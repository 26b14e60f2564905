import { fewOf } from '../base/text.ts'
import type { Emitted } from '../events/event.ts'
import { GitError } from '../git/git.ts'
import type { Base } from '../git/head.ts'
import { candidateRef, type KeptAttempt } from '../git/record.ts'
import type { Failed } from '../attempt/attempt.ts'
import type { Job } from '../attempt/job.ts'
import type { Held } from '../landing/onto.ts'
import { schedule, shareOf, type Busy, type Schedule, type Standing } from '../select/schedule.ts'
import { select } from '../select/selection.ts'
import type { Task } from '../task/model.ts'
import { LOCK_FILES } from '../workspace/furnish.ts'
import type { OwnWorkspace } from '../workspace/own.ts'
import type { Workspace } from '../workspace/port.ts'
import type { Trunk } from '../workspace/trunk.ts'
import { keepLost, openCandidates } from './candidates.ts'
import { taskOrReason } from './choose-task.ts'
import type { UnderWay } from './elsewhere.ts'
import { enter, finishBlocking, nothingToDo, type End, type GivenUp, type Tally } from './enter.ts'
import { Landings } from './landings.ts'
import type { Ledger } from './ledger.ts'
import type { JobNote, NoteKeeper } from './note.ts'
import type { RunOptions, RunPorts } from './ports.ts'
import { makeReady } from './ready.ts'
import { overBudget, runTask, type Ready, type Run } from './task.ts'

/** What several jobs start with. */
export interface TogetherStart {
  readonly options: RunOptions
  readonly ports: RunPorts
  readonly note: NoteKeeper
  readonly ledger: Ledger
  readonly emit: (event: Emitted) => void
  readonly trunk: Trunk
  readonly start: Base
  readonly tally: Tally
  /** Tasks that a dead run had given up. */
  readonly toBlock: readonly GivenUp[]
}

/** Works on several tasks at once, each in a workspace, and lands what passes, one at a time. */
export function workTogether(start: TogetherStart): Promise<End> {
  return new Jobs(start).work()
}

/** A task that the run works on, and its work once that waits to land. */
interface BusyTask extends Busy<Task> {
  readonly candidate?: KeptAttempt
  /** Null if another run has made it. */
  readonly ready?: Ready | null
  /** What is in its way, while it is held. */
  readonly held?: Held
}

/** The time between two checks whether a held candidate can land. */
const HELD_MS = 5000
/** A candidate that is held again each time that its way looks free is left to the next run. */
const MOST_TRIES = 20

/** The jobs of a running run: which task is in which workspace, and what lands. */
class Jobs {
  readonly #at: TogetherStart
  /** The maximum of jobs at once. */
  readonly #most: number
  readonly #landings: Landings
  readonly #free: number[]
  readonly #busy = new Map<string, BusyTask>()
  readonly #running = new Set<Promise<void>>()
  readonly #reserved = new Map<string, number>()
  /** Refused landings, by task: another attempt follows. */
  readonly #refused = new Map<string, Failed>()
  readonly #tries = new Map<string, number>()
  #begun = 0
  #isLanding = false
  #end: End | null = null
  #error: { readonly thrown: unknown } | null = null
  #asking: Promise<unknown> = Promise.resolve()

  constructor(at: TogetherStart) {
    this.#at = at
    this.#most = at.options.apart?.jobs ?? 1
    this.#free = Array.from({ length: this.#most }, (_, index) => index + 1)
    const own = this.#own(0)
    this.#landings = new Landings({ ...at, own }, (workspace) => this.#runIn(own, workspace))
  }

  /** The main loop: begin what can begin, land what is ready, and repeat when something has ended. */
  async work(): Promise<End> {
    const { elsewhere, control } = this.#at.ports
    const stopped = new Promise<void>((resolve) => {
      control.stopping.addEventListener('abort', () => resolve(), { once: true })
    })
    await this.#takeUp()
    let isChecked = false
    for (;;) {
      const changed = elsewhere?.changed()
      if (elsewhere && elsewhere.hopeless !== null)
        this.#end ??= { end: 'stopped', reason: elsewhere.hopeless }
      if (!this.#isLanding) await this.#landings.followTip()
      await this.#checkHeld()
      const plan = schedule(await this.#standing())
      if (plan.begin.length > 0 && !isChecked) {
        isChecked = true
        const objection = await this.#landings.baseline()
        if (objection !== null) this.#end ??= { end: 'stopped', reason: objection }
        continue
      }
      for (const task of plan.begin) this.#begin(task)
      if (plan.land) this.#land(plan.land)
      const news = changed === undefined ? [] : [changed]
      if (this.#running.size > 0) await Promise.race([...this.#running, ...this.#heldTimer(), ...news])
      else if (this.#error) throw this.#error.thrown
      // Also if tasks could begin, but attempts of an earlier run take all the workers' places.
      else if (news.length > 0 && this.#waitsForWorkers(plan))
        await Promise.race([...news, stopped, ...this.#heldTimer()])
      else if (plan.isOver && !(await this.#checkHeld())) return this.#ended()
      // The other agents stop too: what they have done is kept.
      if (this.#error) this.#at.ports.control.stop('clean')
    }
  }

  /** Takes over what an earlier run has left: work that waits to land, and tasks that were to be blocked. */
  async #takeUp(): Promise<void> {
    const { ports, start, tally, note, toBlock } = this.#at
    for (const { candidate, task } of await openCandidates(this.#run(), start))
      this.#busy.set(task.id, { task, phase: 'ready', candidate, ready: null })
    if (this.#busy.size > 0) ports.checkpoint('candidates-found')
    for (const one of ports.elsewhere?.underWay() ?? []) this.#takeOver(one)
    for (const { workspace, attempt } of toBlock) {
      const run = { ...this.#run(), note: note.of(workspace === 'checkout' ? 0 : workspace) }
      const blocked = await finishBlocking(run, start, { tally, toBlock: attempt })
      if ('end' in blocked) this.#end ??= blocked
    }
  }

  /** Follows an attempt that a dead run has given to a worker: its result counts as it would have in that run. */
  #takeOver({ job, worker, ended }: UnderWay): void {
    const { ports, emit } = this.#at
    const { task: of, attempt } = job
    const task = ports.source.tasks().find(({ id }) => id === of.id)
    if (task?.status !== 'TODO' || this.#busy.has(of.id)) return
    this.#busy.set(task.id, { task, phase: 'working' })
    const message = `${task.id}: attempt ${attempt} of the last run goes on at ${worker}`
    emit({ type: 'recovered', message, task: task.id, ref: null })
    this.#follow(ended.then((how) => this.#tookOver(task, job, how)))
  }

  async #tookOver(task: Task, job: Job, how: 'ended' | 'lost'): Promise<void> {
    const run = this.#run()
    const { ports, ledger, note } = run
    for (const record of await ports.records()) if (record.task === task.id) ledger.keep(record)
    const ref = candidateRef(task.id, job.attempt, job.token)
    const candidate = (await ports.workspace.record.candidates()).find((one) => one.ref === ref)
    const usage = candidate?.usage ?? ledger.attemptAt(task.id, job.attempt)?.usage
    note.spend(usage?.costUsd ?? null)
    if (candidate) this.#busy.set(task.id, { task, phase: 'ready', candidate, ready: null })
    else this.#busy.delete(task.id)
    // If it comes back after all, it does not clash: the next attempt has a number of its own.
    if (how === 'lost' && !candidate) ledger.keep(await keepLost(run, job))
  }

  async #standing(): Promise<Standing<Task>> {
    const { options, ports } = this.#at
    const open = this.#open()
    return {
      eligible: (await ports.elsewhere?.takeable(open)) ?? open,
      busy: [...this.#busy.values()],
      jobs: this.#jobs,
      overlap: options.overlap,
      mayBegin: (this.#limit ?? Infinity) - this.#begun,
      again: new Set(this.#refused.keys()),
      isEnding: this.#end !== null || this.#overBudget !== null,
      isStopping: ports.control.isStopping || this.#error !== null,
      isLanding: this.#isLanding,
    }
  }

  /** The number of jobs: limited by the workspaces, or by the workers' places. */
  get #jobs(): number {
    return Math.min(this.#most, this.#at.ports.elsewhere?.places ?? this.#most)
  }

  /** The tasks that could begin if there were room. */
  #open(): readonly Task[] {
    const taken = this.#taken
    return this.#eligible().filter(({ id }) => !taken.has(id))
  }

  #eligible(): readonly Task[] {
    const { options, ports } = this.#at
    const selection = select(ports.source.tasks())
    if (options.task === null) return selection.eligible
    const named = taskOrReason(selection, options.task)
    return typeof named === 'string' ? [] : [named]
  }

  get #taken(): ReadonlySet<string> {
    const { completed, blocked, failed } = this.#at.tally
    return new Set([...completed, ...blocked, ...failed])
  }

  /** Whether there is work, and no worker for it yet. */
  #waitsForWorkers({ waiting }: Schedule<Task>): boolean {
    const { control } = this.#at.ports
    if (this.#end !== null || this.#overBudget !== null || control.isStopping) return false
    const isLeft = (this.#limit ?? Infinity) > this.#begun || this.#refused.size > 0
    const overlapping = new Set(
      waiting.flatMap(({ task, wait }) => (wait.kind === 'overlap' ? [task.id] : [])),
    )
    return isLeft && this.#open().some(({ id }) => !this.#busy.has(id) && !overlapping.has(id))
  }

  get #limit(): number | null {
    const { loop, maxTasks } = this.#at.options
    return loop ? maxTasks : 1
  }

  get #overBudget(): string | null {
    return overBudget({ options: this.#at.options, note: this.#at.note.of(0) })
  }

  /** Why the run ends, now that nothing is running. */
  #ended(): End {
    const { options, ports, tally } = this.#at
    const held = [...this.#busy.values()].filter(({ phase }) => phase === 'held')
    tally.held.push(...held.map(({ task }) => task.id))
    if (ports.control.isStopping) return { end: 'interrupted', reason: 'the run was interrupted' }
    if (this.#end) return this.#end
    const spent = this.#overBudget
    if (spent !== null) return { end: 'budget', reason: spent }
    if (held.length > 0) return { end: 'held', reason: heldText(held) }
    const limit = this.#limit
    if (limit !== null && this.#begun >= limit)
      return { end: 'done', reason: limit === 1 ? 'one task, as asked' : `${limit} tasks, as asked` }
    const why = taskOrReason(select(ports.source.tasks()), options.task, this.#taken)
    return nothingToDo(this.#run(), typeof why === 'string' ? why : 'no task is eligible')
  }

  #begin(task: Task): void {
    // The others' reservations may leave it no budget until they have ended.
    if (this.#reserve(task.id) === 0 && this.#running.size > 0) {
      this.#reserved.delete(task.id)
      return
    }
    if (this.#at.ports.elsewhere?.promise(task) === false) {
      this.#reserved.delete(task.id)
      return
    }
    const number = this.#free.shift()!
    this.#busy.set(task.id, { task, phase: 'working' })
    this.#follow(
      this.#job(task, number).finally(() => {
        this.#reserved.delete(task.id)
        this.#at.ports.elsewhere?.forget(task.id)
        this.#free.push(number)
        this.#free.sort((a, b) => a - b)
      }),
    )
  }

  #land(task: Task): void {
    const { candidate, ready = null } = this.#busy.get(task.id)!
    this.#isLanding = true
    this.#follow(
      this.#landNow(task, candidate!, ready).finally(() => {
        this.#isLanding = false
      }),
    )
  }

  /** Follows work that runs beside the rest; an error ends the run once the other work has ended. */
  #follow(work: Promise<void>): void {
    const running: Promise<void> = work
      .catch((thrown: unknown) => {
        // Ctrl-C in a terminal reaches git too; what git was doing is noted, or on a ref.
        const isInterrupted = thrown instanceof GitError && this.#at.ports.control.signal.aborted
        if (!isInterrupted) this.#error ??= { thrown }
      })
      .finally(() => this.#running.delete(running))
    this.#running.add(running)
  }

  /** Works on one task in one workspace, until its work is ready to land, or there is none. */
  async #job(task: Task, number: number): Promise<void> {
    const own = this.#own(number)
    const refused = this.#refused.get(task.id) ?? null
    if (!this.#refused.delete(task.id)) this.#begun++
    const base = await this.#at.trunk.tip()
    // With workers, nobody works in this workspace.
    const strays = await (this.#at.ports.elsewhere ? own.advance(base) : own.bring(base))
    const run = await this.#runIn(own, own.workspace)
    for (const ref of strays) run.emit({ type: 'warning', message: strayText(number, ref) })
    const problem = run.ports.elsewhere ? null : await makeReady(run, own, base)
    if (problem !== null) {
      this.#busy.delete(task.id)
      this.#end ??= { end: 'stopped', reason: problem }
      return
    }
    const ended = await runTask(run, task, base, refused)
    const facts =
      ended.kind === 'ready' ? ended.passed.candidate.facts : run.ledger.attemptsAt(task.id).at(-1)
    if (ended.kind === 'ready') own.keeps(ended.passed.candidate.kept.commit)
    // The installed packages are now those of the attempt.
    if (facts?.changed.some(isLockFile)) await own.prepared(false)
    await this.#enter(task, ended)
  }

  async #enter(task: Task, ended: Awaited<ReturnType<typeof runTask>>): Promise<void> {
    const { tally } = this.#at
    if (ended.kind === 'ready') {
      const candidate = ended.passed.candidate.kept
      this.#busy.set(task.id, { task, phase: 'ready', candidate, ready: ended })
      return
    }
    if (ended.kind === 'stop') {
      if (ended.why !== 'interrupted') tally.failed.push(task.id)
      this.#end ??= { end: ended.why, reason: ended.reason }
    } else await enter(this.#run(), { ...ended, id: task.id }, tally)
    this.#busy.delete(task.id)
  }

  async #landNow(task: Task, candidate: KeptAttempt, ready: Ready | null): Promise<void> {
    const ended = await this.#landings.land(task, candidate, ready)
    switch (ended.kind) {
      case 'held':
        this.#busy.set(task.id, { ...this.#busy.get(task.id)!, phase: 'held', held: ended })
        return
      case 'left':
        this.#end ??= { end: 'stopped', reason: ended.reason }
        break
      case 'refused':
        if (ended.failed) this.#refused.set(task.id, ended.failed)
        break
      case 'completed':
        await enter(this.#run(), { ...ended, id: task.id }, this.#at.tally)
    }
    this.#busy.delete(task.id)
  }

  /** Marks held candidates whose way is free now as ready; returns whether there are any. */
  async #checkHeld(): Promise<boolean> {
    let found = false
    for (const busy of this.#busy.values()) {
      const { task, phase, held } = busy
      const tries = this.#tries.get(task.id) ?? 0
      if (phase !== 'held' || !held || tries >= MOST_TRIES) continue
      // If no file is in the way, only time helps, and a run with nothing else to do does not wait.
      const isFree =
        held.paths.length === 0 ? this.#running.size > 0 : await this.#at.trunk.isFree(held.paths)
      if (!isFree) continue
      this.#tries.set(task.id, tries + 1)
      this.#busy.set(task.id, { ...busy, phase: 'ready' })
      found = true
    }
    return found
  }

  #heldTimer(): readonly Promise<void>[] {
    const { sleep, control } = this.#at.ports
    const isHeld = [...this.#busy.values()].some(({ phase }) => phase === 'held')
    return isHeld ? [sleep(HELD_MS, control.signal)] : []
  }

  #own(number: number): OwnWorkspace {
    return this.#at.ports.workspaces.own(number)
  }

  /** The run with the ports for what belongs to no job. */
  #run(): Run {
    const { options, ports, ledger, emit, note } = this.#at
    const together = {
      commitText: this.#landings.commitText.bind(this.#landings),
      reserve: (task: string) => this.#reserve(task),
    }
    return { options, ports, ledger, emit, note: note.of(0), together }
  }

  /** The run with the ports for a job in a workspace. */
  async #runIn(own: OwnWorkspace, workspace: Workspace): Promise<Run> {
    const { ports, note, emit } = this.#at
    const { number } = own
    const isLanding = number === 0
    const { source, ask } = ports
    return {
      ...this.#run(),
      ports: {
        ...ports,
        ...(await ports.workspaces.portsIn(own)),
        workspace,
        // A job uses the tasks as they are on the branch, and reads none again.
        source: isLanding ? source : { ...source, refresh: async () => undefined },
        ask: ask && ((question, signal) => this.#oneAtATime(() => ask(question, signal))),
        env: { ...ports.env, RALPH_WORKSPACE: String(number), RALPH_PORT_BASE: String(portBase(number)) },
      },
      note: isLanding ? silent(note.of(0)) : ports.elsewhere ? note.distant(number) : note.of(number),
      emit: (event) => emit({ ...event, workspace: number }),
    }
  }

  #reserve(task: string): number | null {
    const { options, note } = this.#at
    const { budget } = options
    if (budget === null) return null
    this.#reserved.delete(task)
    const reserved = [...this.#reserved.values()]
    const share = shareOf({ budget, spent: note.spentUsd ?? 0, reserved, jobs: this.#jobs })
    this.#reserved.set(task, share)
    return share
  }

  /** Asks one question at a time. */
  #oneAtATime<T>(question: () => Promise<T>): Promise<T> {
    const mine = this.#asking.then(question)
    this.#asking = mine.catch(() => undefined)
    return mine
  }
}

function heldText(held: readonly BusyTask[]): string {
  const texts = held.map(({ task, held: by }) => {
    const what = by && by.paths.length > 0 ? fewOf(by.paths) : (by?.reason ?? '')
    return `${task.id} (${what})`
  })
  return `what you have in the checkout keeps this from landing: ${texts.join('; ')}. The next ralph run lands it`
}

/** The message about where work found in a workspace is kept. */
export function strayText(number: number, ref: string): string {
  return `somebody had left work in workspace ${number}: it is kept under ${ref}`
}

/** Whether a change of that file may require other packages. */
export function isLockFile(path: string): boolean {
  return LOCK_FILES.includes(path.slice(path.lastIndexOf('/') + 1))
}

/** The first of a job's hundred ports: the gates of several jobs must not open the same ones. */
export function portBase(number: number): number {
  return 20_000 + 100 * number
}

/** Notes nothing: until a landing has landed, its candidate is enough for recovery. */
function silent(note: JobNote): JobNote {
  return {
    spentUsd: () => note.spentUsd(),
    begin: () => undefined,
    update: () => undefined,
    spend: () => undefined,
    clear: () => undefined,
    clearSoon: () => undefined,
  }
}
