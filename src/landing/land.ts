import { fewOf } from '../base/text.ts'
import type { Happening } from '../events/event.ts'
import { totalUsage, type Usage } from '../events/usage.ts'
import type { Base } from '../git/head.ts'
import { gatesText, usageTrailers, type AttemptFacts, type KeptAttempt } from '../git/record.ts'
import type { Sealer } from '../git/seal/sealer.ts'
import type { StatusEntry } from '../git/status.ts'
import { composeMessage, known, type Trailer } from '../git/trailers.ts'
import type { Completion } from '../task/finish.ts'
import type { Task } from '../task/model.ts'
import { safeNotes } from '../task/notes.ts'
import type { OriginReport, Origins } from '../task/origin.ts'
import { subjectOf } from '../task/subject.ts'
import type { Checkpoint } from '../workspace/checkpoint.ts'
import type { Landing, Work, Workspace } from '../workspace/port.ts'

/** Everything that a landing uses. */
export interface LandingPorts {
  readonly workspace: Workspace
  /** Reads the task again, because somebody may have edited its file while the gates ran; null if it is gone. */
  readonly taskNow: () => Promise<Task | null>
  /** The text of the finished task file, with the team's words for each status. */
  readonly complete: (task: Task, completion: Completion) => string
  readonly origins: Origins
  /** Runs the gates on the work if it is not what they have passed on. */
  readonly check: (work: Work) => Promise<Checked>
  /** Null if commits are not sealed. */
  readonly sealer: Sealer | null
  readonly now: () => Date
  readonly signal: AbortSignal
  readonly killSignal: AbortSignal
  readonly checkpoint: (name: Checkpoint) => void
}

/** The result of the gates. */
export interface Checked {
  /** Why it may not land; null if it may. */
  readonly refusal: Refusal | null
  readonly work: Work
  readonly passed: readonly string[]
}

/** Why a candidate did not land. */
export interface Refusal {
  /** `conflict`: it passed alone, and conflicts with what has landed since. */
  readonly kind: 'gate-failed' | 'interrupted' | 'conflict'
  readonly reason: string
  readonly detail: string
  /** Equal for equal failures; null if the reason is enough. */
  readonly fingerprint: string | null
}

/** Work that passed, on its way onto the branch. */
export interface LandingRequest {
  readonly candidate: { readonly kept: KeptAttempt; readonly facts: AttemptFacts; readonly work: Work }
  /** The earlier attempts that count together with it. */
  readonly earlier: readonly KeptAttempt[]
  /** The template of the commit's subject. */
  readonly subject: string
  /** A file that the notes are appended to, relative to the root. */
  readonly progress: string | null
  /** Whether criteria that the agent says are met are checked off. */
  readonly checkCriteria: boolean
}

export type Landed =
  | {
      readonly kind: 'landed'
      readonly commit: string
      /** The sums over all attempts at the task. */
      readonly sums: Sums
      /** How long the landing took: the commit with its hooks, and the search for its seal. */
      readonly seconds: number
      readonly files: number
      readonly added: number
      readonly removed: number
      /** Whether the search for the seal was interrupted: the next run finishes it. */
      readonly sealPending: boolean
      /** The work with the finished task file, relative to the root. */
      readonly work: Work
      /** What is in the tree and not in the commit. */
      readonly left: readonly StatusEntry[]
    }
  | {
      readonly kind: 'refused'
      readonly refusal: Refusal
      /** The state of the workspace now. */
      readonly work: Work
      /** A commit that was made and undone. */
      readonly undone: string | null
    }

interface Sums {
  readonly seconds: number
  /** Only those that count. */
  readonly attempts: number
  readonly usage: Usage
}

/** How often somebody may commit just before a landing does, until it gives up. */
export const MOST_MOVES = 3

/** Makes the task's sealed commit from a candidate: the work and the finished task file together. */
export async function land(
  request: LandingRequest,
  ports: LandingPorts,
  emit: (event: Happening) => void,
): Promise<Landed> {
  const { kept, facts } = request.candidate
  emit({ type: 'landing-started', id: facts.task, ref: kept.ref })
  const landed = await commitCandidate(request, ports, emit)
  emit({ type: 'landing-finished', id: facts.task, result: resultOf(landed), paths: [] })
  return landed
}

/** The result of a landing, as its event names it. */
export function resultOf(landed: Landed): Extract<Happening, { type: 'landing-finished' }>['result'] {
  if (landed.kind === 'landed') return 'landed'
  return landed.refusal.kind === 'interrupted' ? 'not-committed' : landed.refusal.kind
}

/** Commits a candidate whose work is in the workspace, on the workspace's branch. */
export async function commitCandidate(
  request: LandingRequest,
  ports: LandingPorts,
  emit: (event: Happening) => void,
): Promise<Landed> {
  const startedAt = ports.now().getTime()
  const result = await landOnBranch(request, ports, emit)
  const seconds = (ports.now().getTime() - startedAt) / 1000
  return result.kind === 'landed' ? { ...result, seconds } : result
}

/** A landing whose duration is not yet known. */
type UntimedLanding =
  | Omit<Extract<Landed, { readonly kind: 'landed' }>, 'seconds'>
  | Extract<Landed, { readonly kind: 'refused' }>

async function landOnBranch(
  request: LandingRequest,
  ports: LandingPorts,
  emit: (event: Happening) => void,
): Promise<UntimedLanding> {
  let toLand = request
  for (let moves = 0; moves < MOST_MOVES; moves++) {
    const { candidate } = toLand
    const task = await ports.taskNow()
    if (!task) return { kind: 'refused', refusal: GONE, work: candidate.work, undone: null }
    const { landing, prefix, sums, written } = await commitWork(toLand, task, { ports, emit })
    switch (landing.kind) {
      case 'committed':
        return afterCommit(toLand, { landing, prefix, sums, task, written }, ports, emit)
      case 'moved': {
        const { refusal, work, passed } = await ports.check(
          await ports.workspace.inspect.work(candidate.work.base),
        )
        if (refusal) return { kind: 'refused', refusal, work, undone: null }
        const facts = { ...candidate.facts, gates: passed, base: work.base.head }
        toLand = withCandidate(request, { kept: candidate.kept, facts, work })
        break
      }
      default:
        return {
          kind: 'refused',
          refusal: refusalOf(landing, ports.signal),
          work: await ports.workspace.inspect.work(candidate.work.base),
          undone: null,
        }
    }
  }
  const reason = 'somebody committed each time that the task was to land'
  return { kind: 'refused', refusal: stoppedBy(reason), work: toLand.candidate.work, undone: null }
}

/** The same request with another candidate. */
export function withCandidate(
  request: LandingRequest,
  candidate: LandingRequest['candidate'],
): LandingRequest {
  return { ...request, candidate }
}

interface Committed {
  readonly landing: Landing
  readonly prefix: string | null
  readonly sums: Sums
  readonly task: Task
  /** The files of the project that the landing wrote. */
  readonly written: readonly string[]
}

/** A task without a file cannot name its commit. */
const GONE: Refusal = {
  kind: 'gate-failed',
  reason: 'its task file is gone, or cannot be read',
  detail: '',
  fingerprint: null,
}

async function commitWork(
  request: LandingRequest,
  task: Task,
  { ports, emit }: { readonly ports: LandingPorts; readonly emit: (event: Happening) => void },
): Promise<Omit<Committed, 'task'>> {
  const { facts, work } = request.candidate
  const { sealer, workspace } = ports
  const sums = sumsOf(request)
  const message = messageOf(request, task, sums)
  const prefix = sealer ? await sealer.prefix(composeMessage(message)) : null
  emit({ type: 'committing', id: facts.task })
  const seal = prefix === null || !sealer ? [] : [sealer.trailer(prefix)]
  const texts = new Map([[task.file, finishedText(request, { task, sums, prefix }, ports)]])
  if (request.progress !== null)
    texts.set(request.progress, progressText(request.progress, task, request, workspace))
  const origin = await ports.origins.texts(task, reportOf(request, ports.now()))
  for (const [file, text] of origin) texts.set(file, text)
  const landing = await workspace.record.land({
    base: work.base,
    tree: work.tree,
    texts,
    message: composeMessage({ ...message, trailers: [...message.trailers, ...seal] }),
    signal: ports.killSignal,
  })
  return { landing, prefix, sums, written: [...texts.keys()] }
}

/** The report to the task's origin: that it is done, and what failed before. */
function reportOf({ earlier }: LandingRequest, at: Date): OriginReport {
  const failed = earlier.map(({ number, reason, keptAt }) => ({
    number,
    reason,
    at: new Date(keptAt * 1000),
  }))
  return { status: 'DONE', reason: '', at, failed }
}

/** Checks what a commit hook has changed like any other work, then seals the commit. */
async function afterCommit(
  request: LandingRequest,
  {
    landing,
    prefix,
    sums,
    written,
  }: Committed & { readonly landing: Extract<Landing, { kind: 'committed' }> },
  ports: LandingPorts,
  emit: (event: Happening) => void,
): Promise<UntimedLanding> {
  const { facts, work } = request.candidate
  const { changedByHook, branch } = landing
  ports.checkpoint('commit-looked-at')
  if (changedByHook.length > 0) {
    const refusal = await hookRefusal({ ...landing, changedByHook }, work.base, ports)
    if (refusal && !landing.isTop)
      emit({ type: 'warning', message: `${refusal.reason}; more was committed on top, so it stays` })
    else if (refusal) {
      const { restore, inspect, prefix: inside } = ports.workspace
      await restore.commit({ commit: landing.commit, branch })
      ports.checkpoint('commit-undone')
      await restore.files(
        work.base,
        written.map((file) => `${inside}${file}`),
      )
      await ports.taskNow()
      return { kind: 'refused', refusal, work: await inspect.work(work.base), undone: landing.commit }
    }
  }
  const { commit, problem, pending } = await seal(
    ports,
    { id: facts.task, commit: landing.commit, branch },
    emit,
  )
  const warning = problem ?? unsealed(commit, prefix)
  if (warning !== null) emit({ type: 'warning', message: warning })
  if (ports.sealer) ports.checkpoint('sealed')
  const { files, added, removed, left } = landing
  return { kind: 'landed', commit, sums, files, added, removed, sealPending: pending, work, left }
}

/** Null if the gates pass on what a hook changed. */
async function hookRefusal(
  { commit, branch, changedByHook }: Extract<Landing, { kind: 'committed' }>,
  base: Base,
  ports: LandingPorts,
): Promise<Refusal | null> {
  const { inspect } = ports.workspace
  const [work, tree] = [await inspect.work({ head: commit, branch }), await inspect.treeOf(commit)]
  const what = `a commit hook changed ${fewOf(changedByHook)}`
  const refused = (reason: string, more: Partial<Refusal> = {}): Refusal => ({
    kind: 'gate-failed',
    reason: `${what}, and ${reason}`,
    detail: '',
    fingerprint: null,
    ...more,
  })
  if (work.tree !== tree) return refused('left other files in the tree than in the commit')
  const { refusal, work: after } = await ports.check({ ...work, base })
  if (!refusal && after.tree !== tree) return refused('then the gates changed it again')
  return refusal && refused(`then: ${refusal.reason}`, { kind: refusal.kind, detail: refusal.detail })
}

/** The state of HEAD after sealing. */
export interface SealResult {
  readonly commit: string
  readonly problem: string | null
  /** Whether the search for the seal was interrupted: the next run finishes it. */
  readonly pending: boolean
}

/** Seals the task's commit at HEAD if its message asks for that, and emits the progress of the search. */
export async function seal(
  { sealer, signal }: Pick<LandingPorts, 'sealer' | 'signal'>,
  head: { readonly id: string; readonly commit: string; readonly branch: string | null },
  emit: (event: Happening) => void,
): Promise<SealResult> {
  const { id, commit, branch } = head
  if (!sealer) return { commit, problem: null, pending: false }
  const report = await sealer.seal({
    commit,
    branch,
    onProgress: (seconds, expectedSeconds) => emit({ type: 'sealing', id, seconds, expectedSeconds }),
  })
  return { ...report, pending: report.problem !== null && signal.aborted }
}

/** A hook may have removed the trailer that asks for the seal. */
function unsealed(commit: string, prefix: string | null): string | null {
  if (prefix === null || commit.startsWith(prefix)) return null
  return 'the commit is not sealed: its message does not ask for it any more; ralph verify --fix mends the Commit field'
}

function sumsOf({ candidate: { facts }, earlier }: LandingRequest): Sums {
  return {
    seconds: earlier.reduce((sum, record) => sum + record.seconds, facts.seconds),
    attempts: facts.counted,
    usage: totalUsage([facts, ...earlier].map(({ usage }) => usage)),
  }
}

function messageOf(
  { candidate: { facts }, subject }: LandingRequest,
  task: Task,
  { seconds, attempts, usage }: Sums,
): { readonly subject: string; readonly body: string; readonly trailers: readonly Trailer[] } {
  return {
    subject: subjectOf(subject, task),
    body: facts.detail,
    trailers: known([
      ['Task', task.id],
      ['Agent', facts.agent],
      ['Model', facts.model],
      ['Tier', facts.tier],
      ['Attempts', String(attempts)],
      ...usageTrailers({ usage, seconds }),
      ['Gates', gatesText(facts.gates ?? [])],
      ...facts.gatesChanged.map((path): [string, string] => ['Gates-Changed', path]),
      ...facts.runsLater.map((path): [string, string] => ['Runs-Later', path]),
    ]),
  }
}

function finishedText(
  { candidate: { facts }, checkCriteria }: LandingRequest,
  { task, sums, prefix }: { readonly task: Task; readonly sums: Sums; readonly prefix: string | null },
  ports: LandingPorts,
): string {
  return ports.complete(task, {
    at: ports.now(),
    seconds: sums.seconds,
    commit: prefix,
    costUsd: sums.usage.costUsd,
    notes: facts.detail,
    criteriaMet: checkCriteria ? facts.criteriaMet : [],
  })
}

/** The text of the progress file, with the notes on this task at its end. */
function progressText(
  file: string,
  task: Task,
  { candidate: { facts } }: LandingRequest,
  { inspect }: Workspace,
): string {
  const before = inspect.text(file)
  const text = before === null ? '# Progress\n\n' : `${before.trimEnd()}\n\n`
  return `${text}## ${task.id}: ${task.title}\n\n${safeNotes(facts.detail) || 'Done.'}\n`
}

function refusalOf(landing: Extract<Landing, { kind: 'refused' | 'failed' }>, signal: AbortSignal): Refusal {
  const { output } = landing
  const [line = ''] = output.split('\n')
  // Ctrl-C in a terminal reaches git and its hooks too.
  if (signal.aborted) return stoppedBy('the run was interrupted while git committed')
  if (landing.kind === 'failed') return stoppedBy(`git could not commit: ${line}`, output)
  return {
    kind: 'gate-failed',
    reason:
      landing.by === 'hook'
        ? 'a git hook refused the commit'
        : `git refused the commit: ${line.replace('fatal: ', '')} (core.safecrlf)`,
    detail: output,
    fingerprint: `commit: ${output.replaceAll(/\d+/g, '0')}`,
  }
}

/** A refusal after which the same candidate may land another time. */
export function stoppedBy(reason: string, detail = ''): Refusal {
  return { kind: 'interrupted', reason, detail, fingerprint: null }
}
