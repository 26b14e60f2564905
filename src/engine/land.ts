import { fewOf } from '../base/text.ts'
import type { Happening } from './events/event.ts'
import type { Usage } from '../base/nouns.ts'
import { totalUsage } from '../base/usage.ts'
import { GitError } from '../git/git.ts'
import type { Base } from '../git/head.ts'
import { makeCommit, sizeOf, treeWith } from '../git/made-commit.ts'
import { mergeTrees } from '../git/merge.ts'
import { rawChanges, type RawChange } from '../git/raw-changes.ts'
import type { KeptAttempt } from '../git/record.ts'
import type { Sealer } from '../git/seal/sealer.ts'
import { composeMessage } from '../git/trailers.ts'
import { textIn } from '../git/tree.ts'
import type { Task } from '../backlog/model.ts'
import { safeNotes } from '../backlog/notes.ts'
import type { OriginReport } from '../backlog/origin.ts'
import { commitMessage, wordsOf } from './commit-message.ts'
import { flakyIn, installing, type CheckPorts } from './check.ts'
import { hasHooks, runHooks } from './hooks.ts'
import type { Job } from './job.ts'
import { completeTask } from '../backlog/finish.ts'
import { checkWork } from './judge.ts'
import { outcome, POLICIES, type Outcome } from './outcome.ts'
import type { Emit, RunOptions, RunPorts, TaskSource } from './ports.ts'
import type { Home } from './slot/home.ts'
import type { Branch, Held } from './slot/branch.ts'
import type { AsItIs } from './slot/follow.ts'

/** Everything that a landing uses. */
export interface LandingPorts extends CheckPorts, Pick<RunPorts, 'now' | 'checkpoint' | 'slots'> {
  readonly branch: Branch
  readonly source: TaskSource
  /** Null if commits are not sealed. */
  readonly sealer: Sealer | null
  /** The commit whose hooks are in force, for a tip. */
  readonly inForce: (tip: string) => Promise<string>
}

/** Work that passed, on its way onto the branch. */
interface LandingRequest {
  readonly candidate: KeptAttempt
  readonly job: Pick<Job, 'task' | 'attempt' | 'gates'>
  /** The earlier attempts that count together with it. */
  readonly earlier: readonly KeptAttempt[]
  /** All kept attempts at the task. */
  readonly kept: readonly KeptAttempt[]
  readonly options: Pick<RunOptions, 'subject' | 'progress' | 'checkCriteria'>
  /** Whether the gates always run here, because somebody else reports that they have passed. */
  readonly isForeign: boolean
  /** What is wrong with what it would add to the backlog, after others have landed; null if nothing is. */
  readonly objection: (changes: readonly RawChange[]) => string | null
  /** If a person completes it: the task as they have written it, and the checkout that is to become the commit. */
  readonly byPerson?: { readonly task: Task; readonly checkout: AsItIs }
}

export type Landed =
  | {
      readonly kind: 'landed'
      readonly commit: string
      readonly base: Base
      /** The sums over all attempts at the task since it was last completed. */
      readonly sums: Sums
      /** How long the landing took: the commit with its hooks, and the search for its seal. */
      readonly seconds: number
      readonly files: number
      readonly added: number
      readonly removed: number
      /** What the commit changes, without what ralph writes. */
      readonly changes: readonly RawChange[]
    }
  /** The person's uncommitted work is in its way: it stays as it is. */
  | Held
  | { readonly kind: 'refused'; readonly outcome: Outcome }

export interface Sums {
  readonly seconds: number
  /** Only those that count. */
  readonly attempts: number
  readonly usage: Usage
}

/** How often somebody may move the branch just before a landing does, until it gives up. */
const MOST_MOVES = 5
const MOST_LANDED = 20

/**
 * Lands a candidate on a branch that may have moved since its job began: it is merged onto the branch, the gates run again
 * if that gives another tree, the task file is completed, the hooks run, the commit is made and sealed, and only then the
 * branch moves to it and the checkout follows.
 */
export async function land(
  request: LandingRequest,
  ports: LandingPorts,
  emit: Emit<Happening>,
): Promise<Landed> {
  const { candidate } = request
  emit({ type: 'landing-started', id: candidate.task, ref: candidate.ref })
  const startedAt = ports.now().getTime()
  const landed = await mergeAndLand(request, ports, emit)
  const result = resultOf(landed)
  const paths = landed.kind === 'held' ? landed.paths : []
  emit({ type: 'landing-finished', id: candidate.task, result, paths })
  if (landed.kind !== 'landed') return landed
  const task = currentTask(ports.source, request.job.task)
  const problem = task && (await ports.slots.closeOrigin(task))
  if (problem !== null) emit({ type: 'warning', message: problem })
  return { ...landed, seconds: (ports.now().getTime() - startedAt) / 1000 }
}

/** The result of a landing, as its event names it. */
function resultOf(landed: Landed): Extract<Happening, { type: 'landing-finished' }>['result'] {
  if (landed.kind !== 'refused') return landed.kind
  const { kind } = landed.outcome
  return kind === 'conflict' ? 'conflict' : kind === 'interrupted' ? 'not-committed' : 'gate-failed'
}

async function mergeAndLand(
  request: LandingRequest,
  ports: LandingPorts,
  emit: Emit<Happening>,
): Promise<Landed> {
  const { candidate } = request
  const { branch, home } = ports
  for (let moves = 0; moves < MOST_MOVES; moves++) {
    const tip = await branch.tip()
    const merged = await mergedOnto(tip, request, ports, emit)
    if (merged.kind !== 'merged') return merged
    const made = await committed(request, { ...merged, tip }, ports, emit)
    if (made.kind !== 'committed') return made
    ports.checkpoint('committed')
    const moved = await branch.publish(tip.head, made.commit, request.byPerson?.checkout)
    ports.checkpoint('published')
    if (moved.kind === 'held') return moved
    if (moved.kind === 'moved') {
      const { commit, sums, changes } = made
      await ports.source.at(commit)
      const size = await sizeOf(home.git, tip.head, commit)
      const base = { head: commit, branch: tip.branch }
      return { kind: 'landed', commit, base, sums, seconds: 0, changes, ...size }
    }
  }
  return stopped(`the branch moved on each time that ${candidate.task} was to land`)
}

/** A candidate's tree on the tip. */
interface Merged {
  readonly kind: 'merged'
  readonly tree: string
  readonly changes: readonly RawChange[]
  /** The gates that have passed on it. */
  readonly gates: readonly string[]
  readonly flaky: readonly string[]
}

/** The candidate's tree on the tip, once the gates have passed on it. */
async function mergedOnto(
  tip: Base,
  { candidate, job, isForeign, objection, byPerson }: LandingRequest,
  ports: LandingPorts,
  emit: Emit<Happening>,
): Promise<Merged | Exclude<Landed, { kind: 'landed' }>> {
  const { branch, home } = ports
  const isFirst = tip.head === candidate.base
  if (!isFirst && !(await branch.holds(candidate.base, tip))) return refused(rewritten(tip))
  const merged = isFirst
    ? ({ kind: 'merged', tree: candidate.tree } as const)
    : await mergeTrees(home.git, tip.head, candidate.commit)
  if (merged.kind === 'conflict') {
    const landed = await landedText(branch, candidate, tip)
    return refused(conflictIn(merged.paths, `${landed}\n\n${merged.hunks}`, tip))
  }
  const { tree } = merged
  const isChecked = tree === candidate.tree && !isForeign
  if ((!isChecked && job.gates.length > 0) || ports.sealer || hasHooks(home)) {
    // The next steps may take a while, and be in vain.
    const held = byPerson ? null : await branch.obstacle(tip.head, tree)
    if (held) return held
  }
  const changes = await rawChanges(home.git, tip.head, tree)
  const wrong = objection(changes)
  if (wrong !== null)
    return refused(failingTogether(wrong, '', await landedText(branch, candidate, tip), tip))
  const { flaky } = candidate
  if (isChecked) return { kind: 'merged', tree, changes, gates: candidate.gates ?? [], flaky }
  const landed = isFirst ? [] : await rawChanges(home.git, candidate.base, tip.head)
  const work = { base: tip.head, tree, changes, landed }
  if (job.gates.length > 0)
    emit({ type: 'gates-again', id: candidate.task, paths: [], landing: isFirst ? 'unseen' : 'moved' })
  const checked = await checkWork(job, work, { ...ports, branch: tip.branch }, emit)
  if (!checked.outcome) {
    const both = [...new Set([...flaky, ...flakyIn(checked.results)])]
    return { kind: 'merged', tree: checked.tree, changes, gates: checked.passed, flaky: both }
  }
  const { kind, reason, detail } = checked.outcome
  if (isFirst || kind === 'interrupted') return refused(checked.outcome)
  return refused(failingTogether(reason, detail, await landedText(branch, candidate, tip), tip))
}

/** The task's commit on the tip, on no branch yet. */
interface Committed {
  readonly kind: 'committed'
  readonly commit: string
  readonly sums: Sums
  readonly changes: readonly RawChange[]
}

async function committed(
  request: LandingRequest,
  onto: Merged & { readonly tip: Base },
  ports: LandingPorts,
  emit: Emit<Happening>,
): Promise<Committed | Extract<Landed, { kind: 'refused' }>> {
  const { candidate, job } = request
  const { tip } = onto
  const { home, source, sealer } = ports
  await source.at(tip.head)
  const found = currentTask(source, job.task)
  if (!found || found.problems.some(({ kind }) => kind === 'unreadable'))
    return refused(outcome('gate-failed', 'its task file is gone, or cannot be read'))
  const task = request.byPerson?.task ?? found
  const sums = sumsOf(candidate, await notYetCounted(request, { file: task.file, tip }, home))
  const size = await sizeOf(home.git, tip.head, onto.tree)
  const message = commitMessage(
    task,
    { candidate, ...request.options },
    { sums, size, ...onto, prefix: home.prefix },
  )
  const prefix = sealer ? await sealer.prefix(composeMessage(message)) : null
  emit({ type: 'committing', id: candidate.task })
  const trailers = prefix === null || !sealer ? [] : [sealer.trailer(prefix)]
  const text = composeMessage({ ...message, trailers: [...message.trailers, ...trailers] })
  try {
    const texts = await textsOf(request, { task, sums, prefix, tree: onto.tree, tip }, ports, emit)
    const tree = await treeWith(home.git, home.repository, onto.tree, texts)
    const hooked = await throughHooks(request, { tree, message: text, tip }, ports, emit)
    if (hooked.kind === 'refused') return hooked
    const commit = await makeCommit(home.git, {
      tree: hooked.tree,
      parent: tip.head,
      message: hooked.message,
    })
    const { changes } = onto
    if (!sealer || prefix === null) return { kind: 'committed', commit, sums, changes }
    const sealed = await sealer.sealed(commit, (seconds, expectedSeconds) =>
      emit({ type: 'sealing', id: candidate.task, seconds, expectedSeconds }),
    )
    if (sealed === null) return stopped('the run was interrupted while it sealed')
    if (!sealed.startsWith(prefix))
      emit({
        type: 'warning',
        message: `the commit of ${task.id} is not sealed: a hook has changed its message; ralph verify --fix mends the Commit field`,
      })
    return { kind: 'committed', commit: sealed, sums, changes }
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    // Ctrl-C in a terminal reaches git and its hooks too.
    if (ports.control.signal.aborted) return stopped('the run was interrupted while git committed')
    return stopped(`git could not commit: ${error.stderr.trim().split('\n')[0] ?? error.message}`)
  }
}

/** A task as it is on the branch; null if its file is gone. */
export function currentTask(source: TaskSource, { id, file }: Pick<Task, 'id' | 'file'>): Task | null {
  return source.tasks().find((task) => task.id === id && task.file === file) ?? null
}

/** What the hooks leave of the commit; if they change files, the gates run on the result. */
async function throughHooks(
  { candidate, job }: LandingRequest,
  { tree, message, tip }: { tree: string; message: string; tip: Base },
  ports: LandingPorts,
  emit: Emit<Happening>,
): Promise<
  | { readonly kind: 'done'; readonly tree: string; readonly message: string }
  | Extract<Landed, { kind: 'refused' }>
> {
  const { home } = ports
  if (!hasHooks(home)) return { kind: 'done', tree, message }
  const inForce = await ports.inForce(tip.head)
  const commit = { id: candidate.task, parent: tip.head, branch: tip.branch, tree, message, inForce }
  const hooked = await runHooks(commit, ports, emit)
  if (hooked.kind === 'interrupted') return stopped('the run was interrupted while git committed')
  if (hooked.kind === 'refused') {
    const fingerprint = `commit: ${hooked.output.replaceAll(/\d+/g, '0')}`
    return refused(
      outcome('gate-failed', 'a git hook refused the commit', { detail: hooked.output, fingerprint }),
    )
  }
  if (hooked.tree === tree) return hooked
  const changes = await rawChanges(home.git, tree, hooked.tree)
  const what = `a commit hook changed ${fewOf(changes.map(({ path }) => path))}`
  const work = { base: tip.head, tree: hooked.tree, changes }
  const checked = await checkWork(job, work, { ...ports, branch: tip.branch }, emit)
  if (checked.outcome?.kind === 'interrupted') return refused(checked.outcome)
  if (checked.outcome) {
    const { reason, detail } = checked.outcome
    return refused(outcome('gate-failed', `${what}, and then: ${reason}`, { detail }))
  }
  if (checked.tree !== hooked.tree)
    return refused(outcome('gate-failed', `${what}, and then the gates changed it again`))
  return hooked
}

/** The texts that a landing writes: the task's file, the progress file, and files of other tools with the tasks' status. */
async function textsOf(
  { candidate, earlier, options }: LandingRequest,
  {
    task,
    sums,
    prefix,
    tree,
    tip,
  }: {
    task: Task
    sums: Sums
    prefix: string | null
    tree: string
    tip: Base
  },
  ports: LandingPorts,
  emit: Emit<Happening>,
): Promise<ReadonlyMap<string, string>> {
  const { home, source, now } = ports
  const completion = {
    at: now(),
    seconds: sums.seconds,
    commit: prefix,
    costUsd: sums.usage.costUsd,
    notes: wordsOf(candidate),
    criteriaMet: options.checkCriteria ? candidate.criteriaMet : [],
  }
  const texts = new Map([[task.file, completeTask(task, completion, source.words)]])
  const { progress } = options
  if (progress !== null) {
    const before = await textIn(home.git, tree, `${home.prefix}${progress}`)
    const text = before === null ? '# Progress\n\n' : `${before.trimEnd()}\n\n`
    const notes = safeNotes(candidate.detail) || 'Done.'
    texts.set(progress, `${text}## ${task.id}: ${task.title}\n\n${notes}\n`)
  }
  const report: OriginReport = { status: 'DONE', reason: '', at: now(), failed: earlier.map(asFailed) }
  const origin = await originTexts({ task, report, tree, tip }, ports, emit)
  return new Map([...texts, ...origin].map(([file, text]) => [`${home.prefix}${file}`, text]))
}

/** A failed attempt, as a task's origin notes it. */
export function asFailed({ number, reason, keptAt }: KeptAttempt): OriginReport['failed'][number] {
  return { number, reason, at: new Date(keptAt * 1000) }
}

/** The texts of a task's origin, made from the origin as a tree has it. */
export async function originTexts(
  { task, report, tree, tip }: { task: Task; report: OriginReport; tree: string; tip: Base },
  ports: Pick<LandingPorts, 'slots' | keyof CheckPorts>,
  emit: Emit<Happening>,
): Promise<ReadonlyMap<string, string>> {
  if (task.origin === null) return new Map()
  const { slot, slots } = ports
  const problem = await slot.bringCheck(tree, tip, installing(ports, emit, 'check'))
  if (problem !== null) return new Map()
  return (await slots.origins(slot.check)).texts(task, report)
}

/** The attempts since the task was last completed: also those before it was blocked or given up. */
async function notYetCounted(
  { kept }: LandingRequest,
  { file, tip }: { file: string; tip: Base },
  { git, prefix }: Home,
): Promise<readonly KeptAttempt[]> {
  const [oldest] = kept
  if (!oldest) return kept
  const since = `--since=@${oldest.keptAt}`
  const args = [
    'log',
    '-1',
    '--format=%ct',
    '--grep=^[ \t]*Tier: ',
    since,
    tip.head,
    '--',
    `${prefix}${file}`,
  ]
  const completedAt = Number((await git.run(args)).stdout.toString())
  return kept.filter(({ keptAt }) => keptAt > completedAt)
}

function sumsOf(candidate: KeptAttempt, earlier: readonly KeptAttempt[]): Sums {
  return {
    seconds: earlier.reduce((sum, record) => sum + record.seconds, candidate.seconds),
    attempts: earlier.filter(({ outcome: kind }) => POLICIES[kind].counts).length + 1,
    usage: totalUsage([candidate, ...earlier].map(({ usage }) => usage)),
  }
}

function refused(why: Outcome): Extract<Landed, { kind: 'refused' }> {
  return { kind: 'refused', outcome: why }
}

/** A refusal after which the same candidate may land another time. */
function stopped(reason: string): Extract<Landed, { kind: 'refused' }> {
  return refused(outcome('interrupted', reason))
}

function rewritten({ head, branch }: Base): Outcome {
  const reason = `${branch ?? 'the branch'} was moved to ${head.slice(0, 10)}, which does not hold what it began from`
  return outcome('conflict', reason, { fingerprint: `rewritten: ${head}` })
}

function conflictIn(paths: readonly string[], detail: string, { head }: Base): Outcome {
  const reason = `it conflicts with what has landed since it began: ${fewOf(paths)}`
  return outcome('conflict', reason, { detail, paths, fingerprint: `conflict: ${head}` })
}

function failingTogether(reason: string, detail: string, landed: string, { head }: Base): Outcome {
  return outcome(
    'conflict',
    `the gates passed on it alone, and fail together with what has landed since: ${reason}`,
    {
      detail: `${landed}\n\n${detail}`,
      fingerprint: `together: ${head}`,
    },
  )
}

/** What the agent needs to know of the other commits. */
async function landedText(branch: Branch, { base: begun }: KeptAttempt, base: Base): Promise<string> {
  const commits = await branch.landedSince(begun, base)
  const lines = commits.slice(0, MOST_LANDED).map(({ hash, subject }) => `- ${hash.slice(0, 10)} ${subject}`)
  const more = commits.length - lines.length
  return ['Landed since this attempt began:', ...lines, ...(more > 0 ? [`- and ${more} more`] : [])].join(
    '\n',
  )
}

/** Why a candidate's new tasks cannot land, after others have landed: two jobs may have used the same number. */
export function objectionToTasks(
  changes: readonly RawChange[],
  { source, prefix, most }: { source: TaskSource; prefix: string; most: number },
): string | null {
  const { ids } = source.words
  const added = changes.flatMap(({ path, kind }) => {
    const file = path.startsWith(prefix) ? path.slice(prefix.length) : ''
    return kind === 'new' && source.folders.includes(file) ? [file] : []
  })
  const taken = added.find((file) =>
    source.tasks().some((task) => task.file !== file && task.number === ids.numberOf(ids.inPath(file))),
  )
  if (taken !== undefined) return `another task has been given the number of ${taken} meanwhile`
  if (added.length <= most) return null
  return `with ${fewOf(added)} agents would have added more tasks than this run takes`
}
