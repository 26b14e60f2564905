import type { Failed, Passed } from '../attempt/attempt.ts'
import { jobTaskOf } from '../attempt/job.ts'
import { fewOf } from '../base/text.ts'
import type { Base } from '../git/head.ts'
import type { KeptAttempt } from '../git/record.ts'
import type { LandingPorts } from '../landing/land.ts'
import { landOnto, type Held } from '../landing/onto.ts'
import { idInFileName } from '../task/file-name.ts'
import type { Task } from '../task/model.ts'
import type { OwnWorkspace } from '../workspace/own.ts'
import type { Work, Workspace } from '../workspace/port.ts'
import type { Trunk } from '../workspace/trunk.ts'
import { runBaseline } from './baseline.ts'
import { EMPTY_WORK, recordCandidate } from './candidates.ts'
import { originTexts } from './give-up.ts'
import { makeReady } from './ready.ts'
import { currentTask } from './source.ts'
import { landingPorts } from './job-ports.ts'
import { afterLanding, type Completed, type Ready, type Run, type TextCommit, type Together } from './task.ts'

/** The result of a candidate that was to land. */
export type LandingEnd =
  | Completed
  /** The person's uncommitted work is in its way. */
  | Held
  /** It conflicts with what has landed: it counts as failed, and another attempt follows; null if another run made it. */
  | { readonly kind: 'refused'; readonly failed: Failed | null }
  /** It stays on its ref, and the next run lands it. */
  | { readonly kind: 'left'; readonly reason: string }

/** How often somebody may move the branch just before a text is committed on it. */
const MOST_MOVES = 3

/** Does everything in the workspace for landings, one thing at a time, and knows the branch's tip. */
export class Landings {
  readonly #own: OwnWorkspace
  readonly #trunk: Trunk
  /** The run with the ports of the workspace for landings. */
  readonly #runIn: (workspace: Workspace) => Promise<Run>
  #tip: string
  #turn: Promise<unknown> = Promise.resolve()

  constructor(
    at: { readonly own: OwnWorkspace; readonly trunk: Trunk; readonly start: Base },
    runIn: (workspace: Workspace) => Promise<Run>,
  ) {
    this.#own = at.own
    this.#trunk = at.trunk
    this.#tip = at.start.head
    this.#runIn = runIn
  }

  /** Runs the gates on the untouched tree, which also shows whether a workspace can be prepared; null, or why the run ends. */
  baseline(): Promise<string | null> {
    return this.#inTurn(async () => {
      const base = await this.#trunk.tip()
      const run = await this.#runIn(await this.#trunk.at(base))
      return (await makeReady(run, this.#own, base)) ?? runBaseline(run, base)
    })
  }

  /** Reads the tasks again if somebody has committed: any task may have changed. */
  async followTip(): Promise<void> {
    const base = await this.#trunk.tip()
    if (base.head === this.#tip) return
    await this.#inTurn(async () => {
      await this.#own.bring(base)
      const { ports } = await this.#runIn(this.#own.workspace)
      await ports.source.refresh()
    })
    this.#tip = base.head
  }

  /** Lands a candidate; `ready` is null if another run made it. */
  land(task: Task, candidate: KeptAttempt, ready: Ready | null): Promise<LandingEnd> {
    return this.#inTurn(() => this.#landNow(task, candidate, ready))
  }

  /** Commits a text of a task's file on the branch. */
  commitText(request: TextCommit): ReturnType<Together['commitText']> {
    return this.#inTurn(() => this.#commitNow(request))
  }

  async #landNow(task: Task, candidate: KeptAttempt, ready: Ready | null): Promise<LandingEnd> {
    const run = await this.#runIn(this.#own.workspace)
    const { options, ledger } = run
    const { subject, progress, checkCriteria } = options
    const job = ready?.job ?? { task: jobTaskOf(task), attempt: candidate.number, gates: options.gates }
    const passed: Pick<Passed['candidate'], 'kept' | 'facts' | 'work'> = ready?.passed.candidate ?? {
      kept: candidate,
      facts: candidate,
      work: {
        ...EMPTY_WORK,
        base: { head: candidate.base, branch: this.#trunk.branch },
        tree: candidate.tree,
      },
    }
    const within = async (workspace: Workspace, base: Base): Promise<LandingPorts> =>
      this.#within(await this.#runIn(workspace), base, job)
    const request = { candidate: passed, earlier: ledger.seriesAt(task.id), subject, progress, checkCriteria }
    const isForeign = run.ports.elsewhere !== null
    const landed = await landOnto(request, { trunk: this.#trunk, within, isForeign }, run.emit)
    if (landed.kind === 'held') return landed
    // An interrupted landing waits on its ref for the next run.
    if (landed.kind === 'refused' && landed.refusal.kind === 'interrupted')
      return { kind: 'left', reason: landed.refusal.reason }
    if (landed.kind === 'landed') {
      const isForeign = landed.work.base.head !== this.#tip
      this.#tip = landed.commit
      // What hooks have left there must not get into a later task's tree.
      if (landed.left.some(({ kind }) => kind !== 'untracked')) this.#own.used()
      // Another's commit may have changed any task.
      if (isForeign) await run.ports.source.refresh()
    }
    if (ready) {
      const ended = await afterLanding(
        await this.#runIn(this.#own.workspace),
        ready.job,
        ready.passed,
        landed,
      )
      if (ended.kind === 'completed') return ended
      if (ended.record) ledger.keep(ended.record)
      await run.ports.workspace.record.removeDropped()
      return { kind: 'refused', failed: ended }
    }
    if (landed.kind === 'landed')
      return { kind: 'completed', candidate, landed, base: { ...landed.work.base, head: landed.commit } }
    const { kind: outcome, reason, detail } = landed.refusal
    if (outcome === 'interrupted') return { kind: 'left', reason }
    await recordCandidate(run, candidate, { base: await this.#trunk.tip(), outcome, reason, detail })
    run.ports.workspace.record.dropCandidate(candidate)
    await run.ports.workspace.record.removeDropped()
    return { kind: 'refused', failed: null }
  }

  /** The ports of a landing; if the packages have changed, they are installed before the gates. */
  async #within(run: Run, base: Base, job: Parameters<typeof landingPorts>[1]): Promise<LandingPorts> {
    const ports = landingPorts(run, job)
    return {
      ...ports,
      check: async (work) => {
        const reason = objectionToTasks(run, work) ?? (await makeReady(run, this.#own, base))
        if (reason === null) return ports.check(work)
        const refusal = { kind: 'gate-failed', reason, detail: '', fingerprint: null } as const
        return { refusal, work, passed: [] }
      },
    }
  }

  async #commitNow(request: TextCommit): ReturnType<Together['commitText']> {
    const { task, text, message } = request
    const { ports } = await this.#runIn(this.#own.workspace)
    const { source, control } = ports
    for (let moves = 0; moves < MOST_MOVES; moves++) {
      const base = await this.#trunk.tip()
      const workspace = await this.#trunk.at(base)
      const now = (await currentTask(source, task)) ?? task
      const texts = new Map([[now.file, text(now)], ...(await originTexts(ports, request))])
      const result = await workspace.record.commitTexts({ texts, message, signal: control.killSignal })
      if (result.kind !== 'committed' || result.head === null) return result
      const moved = await this.#trunk.publish(base.head, result.head)
      if (moved.kind === 'held')
        return { kind: 'failed', output: `${moved.reason}: ${fewOf(moved.paths)}`, head: null }
      if (moved.kind === 'overtaken') continue
      this.#tip = result.head
      await source.refresh([now.file])
      return result
    }
    return { kind: 'failed', output: 'the branch moved on each time', head: null }
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(work)
    this.#turn = mine.catch(() => undefined)
    return mine
  }
}

/** What is wrong with the tasks that the work adds, after others have landed: two jobs may have used the same number. */
function objectionToTasks({ ports, ledger, options }: Run, { changes }: Work): string | null {
  const { source, workspace } = ports
  const added = changes.flatMap(({ path, kind }) => {
    const file = path.startsWith(workspace.prefix) ? path.slice(workspace.prefix.length) : ''
    return kind === 'new' && source.isTask(file) ? [file] : []
  })
  const taken = added.find((file) =>
    source.tasks().some((task) => task.file !== file && task.id === idIn(file)),
  )
  if (taken !== undefined) return `another task has been given the number of ${taken} meanwhile`
  if (added.length === 0 || ledger.addedTasks + added.length <= options.maxAddedTasks) return null
  return `with ${fewOf(added)} agents would have added more than ${options.maxAddedTasks} tasks in this run`
}

function idIn(file: string): string | null {
  return idInFileName(file.slice(file.lastIndexOf('/') + 1))
}
