import type { Failed, Passed } from '../attempt/attempt.ts'
import { jobTaskOf } from '../attempt/job.ts'
import { fewOf } from '../base/text.ts'
import type { Emitted } from '../events/event.ts'
import type { Base } from '../git/head.ts'
import type { KeptAttempt } from '../git/record.ts'
import { landOnto, type Held, type Landed, type LandingPorts } from '../landing/land.ts'
import { schedule, shareOf, type Busy } from '../select/schedule.ts'
import { select } from '../select/selection.ts'
import type { Task } from '../task/model.ts'
import { LOCK_FILES } from '../workspace/furnish.ts'
import type { OwnWorkspace } from '../workspace/own.ts'
import type { Workspace } from '../workspace/port.ts'
import type { Trunk } from '../workspace/trunk.ts'
import { runBaseline } from './baseline.ts'
import { EMPTY_WORK, openCandidates, recordCandidate } from './candidates.ts'
import { originTexts } from './give-up.ts'
import { enter, finishBlocking, nothingToDo, type End, type GivenUp, type Tally } from './enter.ts'
import type { Ledger } from './ledger.ts'
import type { JobNote, NoteKeeper } from './note.ts'
import type { RunOptions, RunPorts } from './ports.ts'
import { makeReady } from './ready.ts'
import { currentTask } from './source.ts'
import {
  afterLanding,
  landingPorts,
  overBudget,
  runTask,
  type Completed,
  type Ready,
  type Run,
  type TextCommit,
  type Together,
} from './task.ts'
import { taskOrReason } from './choose-task.ts'

/** What jobs that run at once are started with. */
export interface TogetherStart {
  readonly options: RunOptions
  readonly ports: RunPorts
  readonly note: NoteKeeper
  readonly ledger: Ledger
  readonly emit: (event: Emitted) => void
  readonly trunk: Trunk
  readonly start: Base
  readonly tally: Tally
  /** Tasks that a dead run had given up on. */
  readonly toBlock: readonly GivenUp[]
}

/** Works on several tasks at once, each in a workspace, and lands what passes, one at a time. */
export function workTogether(start: TogetherStart): Promise<End> {
  return new Jobs(start).work()
}

/** A task that the run is busy with; its work, once that waits to land. */
interface BusyTask extends Busy<Task> {
  readonly candidate?: KeptAttempt
  /** Null where another run has made it. */
  readonly ready?: Ready | null
  /** What is in its way, while it is held. */
  readonly held?: Held
}

/** Between two looks at whether a held candidate can land. */
const HELD_MS = 5000
/** A candidate that is held again each time that its way looked free is left to the next run. */
const MOST_TRIES = 20

/** The jobs of a run while it goes on: which task is where, and what lands. */
class Jobs {
  readonly #at: TogetherStart
  readonly #jobs: number
  readonly #free: number[]
  readonly #busy = new Map<string, BusyTask>()
  readonly #running = new Set<Promise<void>>()
  readonly #reserved = new Map<string, number>()
  /** Landings that were refused, by task: another attempt follows. */
  readonly #refused = new Map<string, Failed>()
  readonly #tries = new Map<string, number>()
  #begun = 0
  #isLanding = false
  #end: End | null = null
  #error: { readonly thrown: unknown } | null = null
  /** Whoever needs the workspace of landings waits for this. */
  #turn: Promise<unknown> = Promise.resolve()
  #asking: Promise<unknown> = Promise.resolve()
  #tip: string

  constructor(at: TogetherStart) {
    this.#at = at
    this.#jobs = at.options.apart?.jobs ?? 1
    this.#free = Array.from({ length: this.#jobs }, (_, index) => index + 1)
    this.#tip = at.start.head
  }

  async work(): Promise<End> {
    await this.#takeUp()
    for (const toBlock of this.#at.toBlock) await this.#blockGivenUp(toBlock)
    let isFirst = true
    for (;;) {
      await this.#followTip()
      await this.#lookAtHeld()
      const plan = schedule(this.#standing())
      if (plan.begin.length > 0 && isFirst) {
        isFirst = false
        const objection = await this.#baseline()
        if (objection !== null) this.#end ??= { end: 'stopped', reason: objection }
        continue
      }
      for (const task of plan.begin) {
        // What the others have reserved may leave nothing to it until they have ended.
        if (this.#reserve(task.id) === 0 && this.#running.size > 0) this.#reserved.delete(task.id)
        else this.#start(() => this.#job(task, this.#free.shift()!), task)
      }
      if (plan.land) this.#land(plan.land)
      if (this.#running.size === 0) {
        if (this.#error) throw this.#error.thrown
        if (plan.isOver && !(await this.#lookAtHeld())) return this.#ended()
        continue
      }
      await Promise.race([...this.#running, ...this.#heldTimer()])
      if (this.#error) this.#at.ports.control.stop('clean')
    }
  }

  #standing(): Parameters<typeof schedule<Task>>[0] {
    const { options, ports, tally } = this.#at
    const taken = new Set([...tally.completed, ...tally.blocked, ...tally.failed])
    const limit = options.loop ? (options.maxTasks ?? Infinity) : 1
    return {
      eligible: this.#eligible().filter(({ id }) => !taken.has(id)),
      busy: [...this.#busy.values()],
      jobs: this.#jobs,
      overlap: options.overlap,
      mayBegin: limit - this.#begun,
      again: new Set(this.#refused.keys()),
      isEnding: this.#end !== null || this.#isBroke,
      isStopping: ports.control.isStopping || this.#error !== null,
      isLanding: this.#isLanding,
    }
  }

  #eligible(): readonly Task[] {
    const { options, ports } = this.#at
    const selection = select(ports.source.tasks())
    if (options.task === null) return selection.eligible
    const named = taskOrReason(selection, options.task)
    return typeof named === 'string' ? [] : [named]
  }

  get #isBroke(): boolean {
    return overBudget({ options: this.#at.options, note: this.#at.note.of(0) }) !== null
  }

  /** Why the run ends, now that nothing goes on. */
  #ended(): End {
    const { options, ports, tally } = this.#at
    for (const { task, phase } of this.#busy.values()) if (phase === 'held') tally.held.push(task.id)
    if (ports.control.isStopping) return { end: 'interrupted', reason: 'the run was interrupted' }
    if (this.#end) return this.#end
    const spent = overBudget({ options, note: this.#at.note.of(0) })
    if (spent !== null) return { end: 'budget', reason: spent }
    if (tally.held.length > 0) return { end: 'held', reason: this.#heldText() }
    const limit = options.loop ? options.maxTasks : 1
    if (limit !== null && this.#begun >= limit)
      return { end: 'done', reason: limit === 1 ? 'one task, as asked' : `${limit} tasks, as asked` }
    const taken = new Set([...tally.completed, ...tally.blocked, ...tally.failed])
    const why = taskOrReason(select(ports.source.tasks()), options.task, taken)
    return nothingToDo(this.#run(), typeof why === 'string' ? why : 'no task is eligible')
  }

  #heldText(): string {
    const texts = [...this.#busy.values()].flatMap(({ task, held }) =>
      held ? [`${task.id} (${held.paths.length > 0 ? fewOf(held.paths) : held.reason})`] : [],
    )
    return `what you have in the checkout keeps this from landing: ${texts.join('; ')}. The next ralph run lands it`
  }

  /** Runs something beside all else; what it throws ends the run once the others have ended. */
  #start(work: () => Promise<void>, task: Task): void {
    this.#busy.set(task.id, { task, phase: 'working' })
    this.#follow(work())
  }

  #follow(work: Promise<void>): void {
    const running: Promise<void> = work
      .catch((thrown: unknown) => {
        this.#error ??= { thrown }
      })
      .finally(() => this.#running.delete(running))
    this.#running.add(running)
  }

  /** What has passed in an earlier run waits to land in this one. */
  async #takeUp(): Promise<void> {
    const { ports } = this.#at
    const open = await openCandidates(this.#run(), this.#at.start)
    for (const { candidate, task } of open) {
      this.#busy.set(task.id, { task, phase: 'ready', candidate, ready: null })
    }
    if (open.length > 0) ports.checkpoint('candidates-found')
  }

  async #blockGivenUp({ workspace, attempt: toBlock }: GivenUp): Promise<void> {
    const { tally, start, note } = this.#at
    const run = { ...this.#run(), note: workspace === 'checkout' ? note.of(0) : note.of(workspace) }
    const blocked = await finishBlocking(run, start, { tally, toBlock })
    if ('end' in blocked) this.#end ??= blocked
  }

  /** The gates on the untouched tree, in the workspace of landings: it shows too whether that can be prepared. */
  async #baseline(): Promise<string | null> {
    return this.#inTurn(async () => {
      const base = await this.#at.trunk.tip()
      const run = await this.#runIn(this.#own(0), await this.#at.trunk.at(base))
      const problem = (await makeReady(run, this.#own(0), base)) ?? (await runBaseline(run, base))
      return problem
    })
  }

  /** One task in one workspace, until its work is ready to land, or it has none. */
  async #job(task: Task, number: number): Promise<void> {
    const { trunk, ledger, tally } = this.#at
    const own = this.#own(number)
    const refused = this.#refused.get(task.id) ?? null
    if (!this.#refused.delete(task.id)) this.#begun++
    try {
      const base = await trunk.tip()
      const strays = await own.bring(base)
      const run = await this.#runIn(own, own.workspace)
      for (const ref of strays)
        run.emit({
          type: 'warning',
          message: `somebody had left work in workspace ${number}: it is kept under ${ref}`,
        })
      const problem = await makeReady(run, own, base)
      if (problem !== null) {
        this.#busy.delete(task.id)
        this.#end ??= { end: 'stopped', reason: problem }
        return
      }
      const end = await runTask(run, task, base, refused)
      const changed =
        end.kind === 'ready'
          ? end.passed.candidate.facts.changed
          : (ledger.attemptsAt(task.id).at(-1)?.changed ?? [])
      if (end.kind === 'ready') {
        own.keeps(end.passed.candidate.kept.commit)
        this.#busy.set(task.id, { task, phase: 'ready', candidate: end.passed.candidate.kept, ready: end })
      } else {
        this.#busy.delete(task.id)
        if (end.kind !== 'stop') await enter(this.#run(), { ...end, id: task.id }, tally)
        else {
          if (end.why !== 'interrupted') tally.failed.push(task.id)
          this.#end ??= { end: end.why, reason: end.reason }
        }
      }
      // The packages that are installed there now are those of the attempt.
      if (changed.some((path) => LOCK_FILES.includes(path.slice(path.lastIndexOf('/') + 1))))
        await own.prepared(false)
    } finally {
      this.#reserved.delete(task.id)
      this.#free.push(number)
      this.#free.sort((a, b) => a - b)
    }
  }

  #land(task: Task): void {
    this.#isLanding = true
    const busy = this.#busy.get(task.id)!
    this.#follow(
      this.#inTurn(() => this.#landNow(busy)).finally(() => {
        this.#isLanding = false
      }),
    )
  }

  async #landNow({ task, candidate, ready }: BusyTask): Promise<void> {
    const { options, ledger, trunk } = this.#at
    const kept = candidate!
    const { subject, progress, checkCriteria } = options
    const job = ready?.job ?? { task: jobTaskOf(task), attempt: kept.number, gates: options.gates }
    const passed: Pick<Passed['candidate'], 'kept' | 'facts' | 'work'> = ready?.passed.candidate ?? {
      kept,
      facts: kept,
      work: { ...EMPTY_WORK, base: { head: kept.base, branch: trunk.branch }, tree: kept.tree },
    }
    const run = await this.#runIn(this.#own(0), this.#own(0).workspace)
    const landed = await landOnto(
      { candidate: passed, earlier: ledger.seriesAt(task.id), subject, progress, checkCriteria },
      { trunk, within: async (workspace, base) => this.#within(workspace, base, job) },
      run.emit,
    )
    if (landed.kind === 'held') return this.#hold(task, landed)
    this.#busy.delete(task.id)
    if (ready) return this.#afterLanding(task, ready, landed)
    if (landed.kind === 'landed')
      return this.#complete(task, { kind: 'completed', candidate: kept, landed, base: at(landed) })
    const { kind, reason, detail } = landed.refusal
    // It goes on to wait where the run is ending.
    if (kind === 'interrupted') return
    await recordCandidate(run, kept, { base: await trunk.tip(), outcome: kind, reason, detail })
    run.ports.workspace.record.dropCandidate(kept)
    await run.ports.workspace.record.removeDropped()
  }

  async #afterLanding(task: Task, { job, passed }: Ready, landed: Landed): Promise<void> {
    const { ledger } = this.#at
    // What is only interrupted waits for the next run, on its ref.
    if (landed.kind === 'refused' && landed.refusal.kind === 'interrupted') {
      this.#end ??= { end: 'stopped', reason: landed.refusal.reason }
      return
    }
    const run = await this.#runIn(this.#own(0), this.#own(0).workspace)
    const ended = await afterLanding(run, job, passed, landed)
    if (ended.kind === 'completed') return this.#complete(task, ended)
    if (ended.record) ledger.keep(ended.record)
    await run.ports.workspace.record.removeDropped()
    this.#refused.set(task.id, ended)
  }

  async #complete(task: Task, completed: Completed): Promise<void> {
    const { tally, ports } = this.#at
    this.#tip = completed.base.head
    const isMoved = completed.landed.work.base.head !== completed.candidate.base
    await enter(this.#run(), { ...completed, id: task.id }, tally)
    // What somebody else has committed meanwhile may have changed any task.
    if (isMoved) await ports.source.refresh()
  }

  #hold(task: Task, held: Held): void {
    const busy = this.#busy.get(task.id)!
    this.#busy.set(task.id, { ...busy, phase: 'held', held })
  }

  /** Has a held candidate land once its way is free; whether there is one. */
  async #lookAtHeld(): Promise<boolean> {
    let found = false
    for (const busy of this.#busy.values()) {
      const { task, phase, held } = busy
      const tries = this.#tries.get(task.id) ?? 0
      if (phase !== 'held' || !held || tries >= MOST_TRIES) continue
      if (held.paths.length === 0 || !(await this.#at.trunk.isFree(held.paths))) continue
      this.#tries.set(task.id, tries + 1)
      this.#busy.set(task.id, { ...busy, phase: 'ready' })
      found = true
    }
    return found
  }

  #heldTimer(): readonly Promise<void>[] {
    const { ports } = this.#at
    const isHeld = [...this.#busy.values()].some(({ phase }) => phase === 'held')
    return isHeld ? [ports.sleep(HELD_MS, ports.control.signal)] : []
  }

  /** Somebody may have committed: then any task may be another. */
  async #followTip(): Promise<void> {
    const { trunk, ports } = this.#at
    if (this.#isLanding) return
    const base = await trunk.tip()
    if (base.head === this.#tip) return
    await this.#inTurn(async () => {
      await this.#own(0).bring(base)
      await ports.source.refresh()
    })
    this.#tip = base.head
  }

  #own(number: number): OwnWorkspace {
    return this.#at.ports.workspaces.own(number)
  }

  /** The run as it is for what belongs to no job. */
  #run(): Run {
    const { options, ports, ledger, emit, note } = this.#at
    return { options, ports, ledger, emit, note: note.of(0), together: this.#together }
  }

  /** The same for a job in a workspace. */
  async #runIn(own: OwnWorkspace, workspace: Workspace): Promise<Run> {
    const { ports, note, emit } = this.#at
    const { number } = own
    const isLanding = number === 0
    const { source } = ports
    return {
      ...this.#run(),
      ports: {
        ...ports,
        ...(await ports.workspaces.portsIn(own)),
        workspace,
        // A job sees the tasks as they are on the branch, and reads none again.
        source: isLanding
          ? source
          : { ...source, tasks: () => source.tasks(), refresh: async () => undefined },
        ask: ports.ask && ((question, signal) => this.#asked(() => ports.ask!(question, signal))),
        env: { ...ports.env, RALPH_WORKSPACE: String(number), RALPH_PORT_BASE: String(portBase(number)) },
      },
      note: isLanding ? silent(note.of(0)) : note.of(number),
      emit: (event) => emit({ ...event, workspace: number }),
    }
  }

  get #together(): Together {
    return {
      commitText: (request) => this.#inTurn(() => this.#commitText(request)),
      reserve: (task) => this.#reserve(task),
    }
  }

  /** What is landed in the workspace of landings; where its packages are others than before, they are installed first. */
  async #within(
    workspace: Workspace,
    base: Base,
    job: Parameters<typeof landingPorts>[1],
  ): Promise<LandingPorts> {
    const own = this.#own(0)
    const run = await this.#runIn(own, workspace)
    const ports = landingPorts(run, job)
    return {
      ...ports,
      check: async (work) => {
        const problem = await makeReady(run, own, base)
        if (problem === null) return ports.check(work)
        return {
          refusal: { kind: 'gate-failed', reason: problem, detail: '', fingerprint: null },
          work,
          passed: [],
        }
      },
    }
  }

  #reserve(task: string): number | null {
    const { options, note } = this.#at
    if (options.budget === null) return null
    this.#reserved.delete(task)
    const share = shareOf({
      budget: options.budget,
      spent: note.spentUsd ?? 0,
      reserved: [...this.#reserved.values()],
      jobs: this.#jobs,
    })
    this.#reserved.set(task, share)
    return share
  }

  async #commitText(request: TextCommit): ReturnType<Together['commitText']> {
    const { task, text, message } = request
    const { trunk, ports } = this.#at
    for (let moves = 0; moves < 3; moves++) {
      const base = await trunk.tip()
      const workspace = await trunk.at(base)
      const now = (await currentTask(ports.source, task)) ?? task
      const origin = await originTexts(await ports.workspaces.portsIn(this.#own(0)), request)
      const result = await workspace.record.commitTexts({
        texts: new Map([[now.file, text(now)], ...origin]),
        message,
        signal: ports.control.killSignal,
      })
      if (result.kind !== 'committed' || result.head === null) return result
      const moved = await trunk.publish(base.head, result.head)
      if (moved.kind === 'held')
        return { kind: 'failed', output: `${moved.reason}: ${fewOf(moved.paths)}`, head: null }
      if (moved.kind === 'overtaken') continue
      this.#tip = result.head
      await ports.source.refresh([now.file])
      return result
    }
    return { kind: 'failed', output: 'the branch moved on each time', head: null }
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(work)
    this.#turn = mine.catch(() => undefined)
    return mine
  }

  /** A person answers one question at a time. */
  #asked<T>(question: () => Promise<T>): Promise<T> {
    const mine = this.#asking.then(question)
    this.#asking = mine.catch(() => undefined)
    return mine
  }
}

function at({ commit, work }: Extract<Landed, { kind: 'landed' }>): Base {
  return { ...work.base, head: commit }
}

/** Gates of several jobs that open ports each have a hundred of their own. */
function portBase(number: number): number {
  return 20_000 + 100 * number
}

/** A landing notes nothing: until it has landed its candidate says all. */
const silent = (note: JobNote): JobNote => ({
  spentUsd: () => note.spentUsd(),
  begin: () => undefined,
  update: () => undefined,
  spend: () => undefined,
  clear: () => undefined,
  clearSoon: () => undefined,
})
