import { fewOf } from '../base/text.ts'
import type { RunEnd } from './events/event.ts'
import { GitError } from '../git/git.ts'
import type { KeptAttempt } from '../git/record.ts'
import { schedule, type Busy, type Schedule, type Standing } from '../backlog/select/schedule.ts'
import { select } from '../backlog/select/selection.ts'
import type { Task } from '../backlog/model.ts'
import { attemptFinished, fail, type Failed } from './attempt.ts'
import { runBaseline } from './baseline.ts'
import { dropCandidate, openCandidates, recordCandidate } from './candidates.ts'
import { Claims } from './claims.ts'
import { taskOrReason } from '../backlog/select/why-not.ts'
import { block, type TaskEnd } from './give-up.ts'
import { jobTaskOf } from './job.ts'
import { land, objectionToTasks, type Landed } from './land.ts'
import type { AttemptNote } from './note.ts'
import { outcome } from './outcome.ts'
import { landingPorts, openPlace, type Place, type Run } from './run-parts.ts'
import type { Held } from './slot/branch.ts'
import { overBudget, runTask, type Ready } from './task.ts'

/** How the tasks of a run have ended. */
export interface Ends {
  readonly completed: string[]
  readonly blocked: string[]
  readonly failed: string[]
  /** Done, but the person's uncommitted work keeps it from landing. */
  readonly held: string[]
}

/** Why a run ends. */
export interface End {
  readonly end: RunEnd
  readonly reason: string
}

/** A task that a dead run had given up, but not blocked yet, and its slot. */
export interface GivenUp {
  readonly workspace: number
  readonly attempt: AttemptNote
}

/** A task that the run works on, and its work once that waits to land. */
interface BusyTask extends Busy<Task> {
  /** The slot that it has; null if it has none while it is held. */
  readonly slot: number | null
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

/** The jobs of a running run: which task is in which slot, and what lands. */
export class Jobs {
  readonly #run: Run
  readonly #ends: Ends
  readonly #busy = new Map<string, BusyTask>()
  readonly #underWay = new Set<Promise<void>>()
  /** Refused landings, by task: another attempt follows. */
  readonly #refused = new Map<string, Failed>()
  readonly #claims = new Claims()
  readonly #tries = new Map<string, number>()
  #begun = 0
  #isLanding = false
  #end: End | null = null
  #error: { readonly thrown: unknown } | null = null

  constructor(run: Run, ends: Ends) {
    this.#run = run
    this.#ends = ends
  }

  /** The main loop: begin what can begin, land what is ready, and repeat when something has ended. */
  async work(toBlock: readonly GivenUp[]): Promise<End> {
    const { workers, control } = this.#run.ports
    const stopped = new Promise<void>((resolve) => {
      control.stopping.addEventListener('abort', () => resolve(), { once: true })
    })
    await this.#takeUp(toBlock)
    let isChecked = false
    for (;;) {
      const changed = workers?.changed()
      if (workers && workers.hopeless !== null) this.#end ??= { end: 'stopped', reason: workers.hopeless }
      await this.#readTasks()
      await this.#blockIdle()
      await this.#checkHeld()
      const plan = schedule(await this.#state())
      if (plan.begin.length > 0 && !isChecked) {
        isChecked = true
        const objection = await this.#baseline()
        if (objection !== null) this.#end ??= { end: 'stopped', reason: objection }
        continue
      }
      for (const task of plan.begin) this.#begin(task)
      if (plan.land) this.#land(plan.land)
      const news = changed === undefined ? [] : [changed]
      if (this.#underWay.size > 0) await Promise.race([...this.#underWay, ...this.#heldTimer(), ...news])
      else if (this.#error) throw this.#error.thrown
      // Also if tasks could begin, but attempts of an earlier run take all the workers' places.
      else if (news.length > 0 && this.#waitsForWorkers(plan))
        await Promise.race([...news, stopped, ...this.#heldTimer()])
      else if (plan.isOver && this.#run.ledger.idleEnd) this.#run.ledger.setIdleEnd(null)
      else if (plan.isOver && !(await this.#checkHeld())) return this.#ended()
      // The other agents stop too: what they have done is kept.
      if (this.#error) control.stop('clean')
    }
  }

  /** Takes over what an earlier run has left: work that waits to land, and tasks that were to be blocked. */
  async #takeUp(toBlock: readonly GivenUp[]): Promise<void> {
    const run = this.#run
    const { ports } = run
    for (const { candidate, task } of await openCandidates(run))
      this.#busy.set(task.id, { task, phase: 'ready', slot: null, candidate, ready: null })
    if (this.#busy.size > 0) ports.checkpoint('candidates-found')
    for (const { workspace, attempt } of toBlock) {
      const place = await openPlace(run, workspace)
      const task = ports.source.tasks().find(({ id }) => id === attempt.task)
      if (task?.status !== 'TODO') {
        place.note.clear()
        continue
      }
      place.note.begin({ ...attempt, base: (await run.branch.tip()).head })
      const end = await block(run, place, { task, reason: attempt.blocking ?? 'it was given up' })
      this.#enter(task, end)
    }
  }

  /** Reads the tasks again if somebody has committed: any task may have changed. */
  async #readTasks(): Promise<void> {
    if (this.#isLanding) return
    const { branch, ports, inTurn } = this.#run
    await inTurn(async () => ports.source.at((await branch.tip()).head))
  }

  /** Blocks the tasks whose agents did nothing, once another task has shown that this is not the agent's fault. */
  async #blockIdle(): Promise<void> {
    const { ledger } = this.#run
    for (let next = ledger.nextToBlock(); next; next = ledger.nextToBlock()) {
      const place = await openPlace(this.#run, this.#freeSlot())
      this.#enter(next.task, await block(this.#run, place, next))
    }
  }

  async #baseline(): Promise<string | null> {
    const run = this.#run
    const place = await openPlace(run, 1)
    return runBaseline(run, place, await run.branch.tip())
  }

  async #state(): Promise<Standing<Task>> {
    const { options, ports } = this.#run
    const open = this.#open()
    const idle = open.filter(({ id }) => !this.#busy.has(id))
    return {
      eligible: (await ports.workers?.takeable(idle, this.#working)) ?? idle,
      busy: [...this.#busy.values()].map((one) => ({
        ...one,
        changed: this.#inProject(one.candidate?.changed ?? []),
      })),
      jobs: options.jobs,
      overlap: options.overlap,
      claims: this.#claims.of([...[...this.#busy.values()].map(({ task }) => task), ...open]),
      mayBegin: (this.#limit ?? Infinity) - this.#begun,
      again: new Set(this.#refused.keys()),
      isEnding: this.#end !== null || ports.control.isStopping || overBudget(this.#run) !== null,
      isStopping: ports.control.signal.aborted || this.#error !== null,
      isLanding: this.#isLanding,
    }
  }

  get #working(): readonly Task[] {
    return [...this.#busy.values()].flatMap(({ task, phase }) => (phase === 'working' ? [task] : []))
  }

  /** The tasks that could begin if there were room. */
  #open(): readonly Task[] {
    const { options, ports } = this.#run
    const selection = select(ports.source.tasks())
    const taken = this.#taken
    const named = options.task === null ? null : taskOrReason(selection, options.task)
    const eligible = named === null ? selection.eligible : typeof named === 'string' ? [] : [named]
    return eligible.filter(({ id }) => !taken.has(id))
  }

  get #taken(): ReadonlySet<string> {
    const { completed, blocked, failed } = this.#ends
    const idle = this.#run.ledger.unblocked.map(({ task }) => task.id)
    return new Set([...completed, ...blocked, ...failed, ...idle])
  }

  /** Whether there is work, and no worker for it yet. */
  #waitsForWorkers({ waiting }: Schedule<Task>): boolean {
    const { control } = this.#run.ports
    if (this.#end !== null || overBudget(this.#run) !== null || control.isStopping) return false
    const isLeft = (this.#limit ?? Infinity) > this.#begun || this.#refused.size > 0
    const overlapping = new Set(
      waiting.flatMap(({ task, wait }) => (wait.kind === 'overlap' ? [task.id] : [])),
    )
    return isLeft && this.#open().some(({ id }) => !this.#busy.has(id) && !overlapping.has(id))
  }

  get #limit(): number | null {
    const { loop, maxTasks } = this.#run.options
    return loop ? maxTasks : 1
  }

  /** Why the run ends, now that nothing is under way. */
  #ended(): End {
    const { options, ports } = this.#run
    const held = [...this.#busy.values()].filter(({ phase }) => phase === 'held')
    this.#ends.held.push(...held.map(({ task }) => task.id))
    if (ports.control.stopMode === 'after-attempt')
      return { end: 'done', reason: 'it was to stop after this attempt' }
    if (ports.control.isStopping) return { end: 'interrupted', reason: 'the run was interrupted' }
    if (this.#end) return this.#end
    const spent = overBudget(this.#run)
    if (spent !== null) return { end: 'budget', reason: spent }
    if (held.length > 0) return { end: 'held', reason: heldText(held) }
    const limit = this.#limit
    if (limit !== null && this.#begun >= limit)
      return { end: 'done', reason: limit === 1 ? 'one task was asked for' : `${limit} tasks were asked for` }
    const tasks = ports.source.tasks()
    const why = taskOrReason(select(tasks), options.task, this.#taken, ports.source.unread())
    const isAllDone = tasks.every(({ status }) => status === 'DONE')
    const reason = typeof why === 'string' ? why : 'no task is eligible'
    return { end: isAllDone && options.task === null ? 'done' : 'nothing-eligible', reason }
  }

  /** The lowest number of a slot that no task has. */
  #freeSlot(): number {
    const taken = new Set([...this.#busy.values()].map(({ slot }) => slot))
    let number = 1
    while (taken.has(number)) number++
    return number
  }

  #begin(task: Task): void {
    const { reserve, release } = this.#run
    // The others' reservations may leave it no budget until they have ended.
    const isTooPoor = Object.values(reserve(task.id)).includes(0) && this.#underWay.size > 0
    if (isTooPoor) return release(task.id)
    const slot = this.#freeSlot()
    this.#busy.set(task.id, { task, phase: 'working', slot })
    this.#follow(
      this.#job(task, slot).finally(() => release(task.id)),
      task.id,
    )
  }

  #land(task: Task): void {
    this.#isLanding = true
    this.#follow(
      this.#landNow(task).finally(() => {
        this.#isLanding = false
      }),
      task.id,
    )
  }

  /** Follows work that runs beside the rest; an error ends the run once the other work has ended. */
  #follow(work: Promise<void>, id: string): void {
    const running: Promise<void> = work
      .catch((thrown: unknown) => {
        // Nobody works on it any more: a run that took it for work under way would never end.
        if (this.#busy.get(id)?.phase === 'working') this.#busy.delete(id)
        // Ctrl-C in a terminal reaches git too; what git was doing is noted, or on a ref.
        const isInterrupted = thrown instanceof GitError && this.#run.ports.control.signal.aborted
        if (!isInterrupted) this.#error ??= { thrown }
      })
      .finally(() => this.#underWay.delete(running))
    this.#underWay.add(running)
  }

  /** Works on one task in one slot, until its work is ready to land, or there is none. */
  async #job(task: Task, slot: number): Promise<void> {
    const run = this.#run
    const refused = this.#refused.get(task.id) ?? null
    if (!this.#refused.delete(task.id)) this.#begun++
    const base = await run.branch.tip()
    const place = await openPlace(run, slot)
    const ended = await runTask(run, place, base, { task, refused })
    if (ended.kind === 'ready') {
      const { candidate } = ended.passed
      this.#busy.set(task.id, { task, phase: 'ready', slot, candidate, ready: ended })
      return
    }
    this.#enter(task, ended)
    this.#busy.delete(task.id)
    this.#claims.drop(task)
  }

  /** Enters how a task ended without a commit of its own. */
  #enter(task: Task, ended: TaskEnd): void {
    const { blocked, failed } = this.#ends
    if (ended.kind === 'idle') return
    if (ended.kind === 'blocked') blocked.push(task.id)
    else if (ended.kind === 'left') failed.push(task.id)
    else {
      if (ended.why !== 'interrupted') failed.push(task.id)
      this.#end ??= { end: ended.why, reason: ended.reason }
    }
  }

  async #landNow(task: Task): Promise<void> {
    const busy = this.#busy.get(task.id)!
    const place = await openPlace(this.#run, busy.slot ?? this.#freeSlot())
    this.#busy.set(task.id, { ...busy, slot: place.slot.number })
    const landed = await this.#landIn(place, task, busy)
    switch (landed.kind) {
      case 'held':
        this.#busy.set(task.id, { ...busy, slot: null, phase: 'held', held: landed })
        return
      case 'landed':
        await this.#completed(place, task, { landed, candidate: busy.candidate! })
        break
      case 'refused':
        await this.#landingRefused(place, task, busy, landed)
    }
    this.#busy.delete(task.id)
  }

  #landIn(place: Place, task: Task, { candidate, ready }: BusyTask): Promise<Landed> {
    const run = this.#run
    const { options, ports, ledger } = run
    const gates = ledger.inForce(options.gates)
    const job = ready?.job ?? { task: jobTaskOf(task), attempt: candidate!.number, gates }
    const most = options.maxAddedTasks - ledger.addedTasks
    const request = {
      candidate: candidate!,
      job,
      earlier: ledger.seriesAt(task.id),
      kept: ledger.attemptsAt(task.id),
      options,
      // The clean room of a run that died may not have held what its candidate says.
      isForeign: !ready || ports.workers !== null,
      objection: (changes: Parameters<typeof objectionToTasks>[0]) =>
        objectionToTasks(changes, { source: ports.source, prefix: ports.home.prefix, most }),
    }
    return run.inTurn(() => land(request, landingPorts(run, place), place.emit))
  }

  /** A landing that was refused is a failed attempt, and another follows; an interrupted one waits for the next run. */
  async #landingRefused(
    place: Place,
    task: Task,
    { candidate, ready }: BusyTask,
    { outcome: why }: Extract<Landed, { kind: 'refused' }>,
  ): Promise<void> {
    const run = this.#run
    if (why.kind === 'interrupted') {
      this.#end ??= { end: 'stopped', reason: why.reason }
      return
    }
    const { ports, ledger } = run
    const kept = candidate!
    if (why.kind === 'conflict') {
      this.#claims.add(task, this.#inProject(why.paths ?? []))
      this.#claims.remember(task, this.#inProject(kept.changed))
    }
    if (ready) {
      const facts = { facts: kept, tree: kept.tree, outcome: why, denied: ready.passed.denied }
      const failed = await fail(ready.job, facts, ports, place.emit)
      if (failed.record) ledger.keep(failed.record)
      this.#refused.set(task.id, failed)
    } else {
      place.emit({ type: 'warning', message: `${task.id} did not land: ${why.reason}` })
      await recordCandidate(run, kept, { outcome: why.kind, reason: why.reason, detail: why.detail })
    }
    await dropCandidate(run, kept)
  }

  /** Paths as Touches name them, from the project's root. */
  #inProject(paths: readonly string[]): readonly string[] {
    const { prefix } = this.#run.ports.home
    return paths.map((path) => (path.startsWith(prefix) ? path.slice(prefix.length) : `../${path}`))
  }

  async #completed(
    place: Place,
    task: Task,
    { landed, candidate }: { landed: Extract<Landed, { kind: 'landed' }>; candidate: KeptAttempt },
  ): Promise<void> {
    const { ports, ledger } = this.#run
    const { emit } = place
    const { source, home } = ports
    this.#ends.completed.push(task.id)
    this.#claims.remember(task, this.#inProject(candidate.changed))
    this.#claims.drop(task)
    const files = landed.changes.flatMap(({ path, kind }) =>
      kind === 'new' && path.startsWith(home.prefix) ? [path.slice(home.prefix.length)] : [],
    )
    ledger.addedTasks += files.filter((file) => source.folders.includes(file)).length
    const done = outcome('done', 'the agent says that it is done')
    emit(attemptFinished(candidate, done, { denied: [], ref: null }))
    if (source.tasks().find(({ id }) => id === task.id)?.status !== 'DONE')
      emit({ type: 'warning', message: notDone(task) })
    await dropCandidate(this.#run, candidate)
    ports.checkpoint('entered')
    const { commit, added, removed, sums } = landed
    const { usage, seconds, attempts } = sums
    emit({
      type: 'task-completed',
      id: task.id,
      title: task.title,
      commit,
      duration: seconds + landed.seconds,
      agent: candidate.agent,
      ...(candidate.testsChanged.length > 0 && { testsChanged: candidate.testsChanged }),
      ...(candidate.assumed.length > 0 && { assumed: candidate.assumed }),
      attempts,
      turns: usage.turns,
      cost: usage.costUsd,
      usage,
      files: landed.files,
      added,
      removed,
    })
    place.slot.forgetGits(0)
    this.#emitMilestone(task)
  }

  #emitMilestone({ milestone }: Task): void {
    if (milestone === null) return
    const { ports, emit } = this.#run
    const siblings = ports.source.tasks().filter((other) => other.milestone === milestone)
    if (siblings.every((sibling) => sibling.status === 'DONE'))
      emit({ type: 'milestone-completed', milestone, tasks: siblings.length })
  }

  /** Marks held candidates whose way is free now as ready; returns whether there are any. */
  async #checkHeld(): Promise<boolean> {
    let found = false
    for (const busy of this.#busy.values()) {
      const { task, phase, held } = busy
      const tries = this.#tries.get(task.id) ?? 0
      if (phase !== 'held' || !held || tries >= MOST_TRIES) continue
      // If no file is in the way, only time helps, and a run with nothing else to do does not wait.
      const isTime = held.paths.length > 0 || this.#underWay.size > 0
      if (!isTime || !(await this.#run.branch.isFree(held.paths))) continue
      this.#tries.set(task.id, tries + 1)
      this.#busy.set(task.id, { ...busy, phase: 'ready' })
      found = true
    }
    return found
  }

  #heldTimer(): readonly Promise<void>[] {
    const { sleep, control } = this.#run.ports
    // After a Ctrl-C no sleep lasts: what ends now is the news.
    if (control.signal.aborted) return []
    const isHeld = [...this.#busy.values()].some(({ phase }) => phase === 'held')
    return isHeld ? [sleep(HELD_MS, control.signal)] : []
  }
}

function heldText(held: readonly BusyTask[]): string {
  const texts = held.map(({ task, held: by }) => {
    const what = by && by.paths.length > 0 ? fewOf(by.paths) : (by?.reason ?? '')
    return `${task.id} (${what})`
  })
  return `what you have in the checkout keeps this from landing: ${texts.join('; ')}. The next ralph run lands it`
}

function notDone({ id, file }: Task): string {
  return `${file} does not say DONE after its commit: a hook may have changed it, and then each run does ${id} again`
}
