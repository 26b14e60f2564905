import { existsSync, readFileSync, statSync } from 'node:fs'
import type { Emit } from '../attempt/ports.ts'
import { UserError } from '../base/errors.ts'
import { CONFIG_FILES } from '../base/names.ts'
import { fewOf } from '../base/text.ts'
import type { Emitted, Happening } from '../events/event.ts'
import { sum } from '../events/usage.ts'
import type { AttemptFacts, KeptAttempt } from '../git/record.ts'
import { seal } from '../landing/land.ts'
import type { Work } from '../workspace/port.ts'
import { displacedWarning } from './give-up.ts'
import { moveLocks, recovered, recoverPlanner, SLACK_MS, undoGit } from './recover-git.ts'
import { readNote, type AttemptNote, type RunNote } from './note.ts'
import type { RunOptions, RunPorts } from './ports.ts'
import { writtenBesideWork } from './job-ports.ts'

/** What a run that died leaves to the next one. */
interface Inheritance {
  /** Its cost; null if unknown. */
  readonly spentUsd: number | null
  /** A task that it had given up, but not blocked yet; `phase` says whether the commit had begun. */
  readonly gaveUp: AttemptNote | null
  /** A task whose commit is made, but whose search for a seal was interrupted again. */
  readonly unsealed: AttemptNote | null
  /** Tasks of jobs in workspaces that it had given up, but not blocked yet. */
  readonly jobs: RunNote['jobs']
}

const NOTHING: Inheritance = { spentUsd: null, gaveUp: null, unsealed: null, jobs: [] }

/**
 * Resumes where a run was killed: ends what it left alive, finishes the move that the checkout was to follow, and cleans up
 * the checkout and each workspace: enters a commit that was made, records what is in the tree as an attempt, and
 * restores the tree to that attempt's base. It can itself be killed at any moment.
 */
export async function recover(
  options: Pick<RunOptions, 'progress'>,
  ports: RunPorts,
  emit: Emit<Emitted>,
): Promise<Inheritance> {
  const { folder, workspace, workspaces, planner } = ports
  const work = planner.read()
  if (work) {
    await recoverPlanner(ports, { work, lastSign: statSync(folder.plan).mtime }, emit)
    planner.forget()
  }
  const dead = readNote(folder.note)
  if (!dead) return NOTHING
  const lastSign = statSync(folder.note).mtime
  const leftovers = await ports.endLeftovers(dead)
  for (const line of leftovers) emit(recovered(null, `ended what the last run had left running: ${line}`))
  await moveLocks(ports, dead, dead.isApart ? 'refs' : 'all', emit)
  await workspaces.finish(dead.move)
  let left: Inheritance = { ...NOTHING, spentUsd: dead.spentUsd }
  // A run with its jobs elsewhere left the checkout to the person.
  if (!dead.isApart) {
    const sign = leftovers.length === 0 ? lastSign : null
    const { attempt } = dead
    const undone = attempt ? await undoGit(ports, named(attempt), sign, emit) : []
    const restored: string[] = []
    const ignored = existsSync(folder.ignored) ? readFileSync(folder.ignored, 'utf8').split('\0') : []
    await workspace.restore.adopt({ ignored, since: dead.cleanSince })
    if (attempt) left = await recoverAttempt(options, ports, { dead, attempt, sign, undone, restored }, emit)
    refuseStale(restored)
  }
  for (const job of dead.jobs) left = await recoverJob(options, ports, { dead, job, left }, emit)
  return left
}

function named(attempt: AttemptNote): AttemptNote & { readonly name: string } {
  return { ...attempt, name: `${attempt.task}-${attempt.number}` }
}

/** Throws if a restored file decides how a run works: the program has already read the wrong version. */
function refuseStale(restored: readonly string[]): void {
  const stale = restored.filter((path) => READ_BEFORE.some((name) => name === path))
  if (stale.length === 0) return
  throw new UserError(
    `the run that died left ${fewOf(stale)} changed by its agent, and this one had read that: it is restored now`,
    'Run ralph again: it goes on from here.',
  )
}

const READ_BEFORE = [...CONFIG_FILES, 'package.json', 'Cargo.toml', 'go.mod', 'pyproject.toml', 'mix.exs']

/** Cleans up a workspace of ralph's own. */
async function recoverJob(
  options: Pick<RunOptions, 'progress'>,
  ports: RunPorts,
  {
    dead,
    job,
    left,
  }: { readonly dead: RunNote; readonly job: RunNote['jobs'][number]; readonly left: Inheritance },
  emit: Emit<Emitted>,
): Promise<Inheritance> {
  const { attempt, workspace: number } = job
  const emitThere: Emit<Emitted> = (event) => emit({ ...event, workspace: number })
  const spentUsd = sum(left.spentUsd, attempt.usage.costUsd)
  const place = ports.workspaces.own(number)
  const undone = place.isThere
    ? await undoGit({ ...ports, workspace: place.workspace }, named(attempt), null, emitThere)
    : []
  const workspace = await place.reopen()
  if (!workspace) {
    const gone = `${attempt.task}: workspace ${number} is gone, and with it what attempt ${attempt.number} had done there`
    emitThere(recovered(attempt.task, gone))
    return { ...left, spentUsd }
  }
  const there = { ...ports, workspace }
  await moveLocks(there, dead, 'all', emitThere)
  const { gaveUp } = await recoverAttempt(
    options,
    there,
    { dead, attempt, sign: null, undone, restored: [] },
    emitThere,
  )
  return {
    ...left,
    spentUsd,
    jobs: gaveUp ? [...left.jobs, { workspace: number, attempt: gaveUp }] : left.jobs,
  }
}

/** Cleans up a place with an attempt under way; `sign` is the last sign of life, after which somebody may have moved HEAD. */
async function recoverAttempt(
  options: Pick<RunOptions, 'progress'>,
  ports: RunPorts,
  {
    dead,
    attempt,
    sign,
    undone,
    restored,
  }: {
    readonly dead: RunNote
    readonly attempt: AttemptNote
    readonly sign: Date | null
    /** What its agent had done to git, a line for each. */
    readonly undone: readonly string[]
    /** Gets the paths that are restored. */
    readonly restored: string[]
  },
  emit: Emit<Happening>,
): Promise<Inheritance> {
  const { workspace } = ports
  const { spentUsd } = dead
  const candidate = await candidateOf(ports, attempt)
  const made = await commitMade(ports, attempt, candidate)
  if (made !== null) {
    const isChecked =
      attempt.phase === 'blocking' || (await isCandidates(made, { attempt, candidate, options, ports }))
    if (isChecked) return enterCommit(ports, { dead, attempt, made }, emit)
    await undoCommit(ports, attempt, made)
  }
  const work = await workspace.inspect.work(attempt.base)
  if (work.head && sign) await refuseForeignMove(ports, attempt, sign)
  restored.push(...work.changes.map(({ path }) => path.slice(workspace.prefix.length)))
  const record = await workspace.record.kept(attempt.task, attempt.number)
  await recordAndRestore(ports, attempt, { work, record, candidate, made, undone }, emit)
  return {
    ...NOTHING,
    spentUsd: sum(spentUsd, attempt.usage.costUsd),
    gaveUp: givenUp(attempt, record),
  }
}

/** The candidate of the attempt, if its work had passed. */
async function candidateOf(
  { workspace }: RunPorts,
  { task, number }: AttemptNote,
): Promise<KeptAttempt | null> {
  const candidates = await workspace.record.candidates()
  return candidates.find((one) => one.task === task && one.number === number) ?? null
}

/** The attempt with the reason why it was the last; null if it was not. A final attempt's record has that from the start. */
function givenUp(attempt: AttemptNote, record: KeptAttempt | null): AttemptNote | null {
  if (attempt.phase === 'blocking') return attempt
  return record?.final ? { ...attempt, reason: record.reason } : null
}

/** The commit that was made before the kill, perhaps with a hook's commit on top: its message names the task. */
async function commitMade(
  { workspace }: RunPorts,
  attempt: AttemptNote,
  candidate: KeptAttempt | null,
): Promise<string | null> {
  if (attempt.phase === 'working' && !candidate) return null
  const { inspect } = workspace
  const { base, task } = attempt
  const { head, branch } = await inspect.status()
  if (head === null || head === base.head || branch !== base.branch) return null
  if (!(await inspect.isAncestor(base.head, head))) return null
  return inspect.commitOf(task, `${base.head}..${head}`)
}

/** Whether a commit holds what has passed the gates, and besides that only what a landing writes. */
async function isCandidates(
  commit: string,
  {
    attempt,
    candidate,
    options,
    ports,
  }: {
    readonly attempt: AttemptNote
    readonly candidate: KeptAttempt | null
    readonly options: Pick<RunOptions, 'progress'>
    readonly ports: RunPorts
  },
): Promise<boolean> {
  const { workspace, source } = ports
  // The gates have not seen what somebody committed just before it.
  if (!candidate || (await workspace.inspect.parentOf(commit)) !== candidate.base) return false
  const own = source.tasks().filter(({ id }) => id === attempt.task)
  const written = writtenBesideWork({ options, ports }, own)
  const paths = new Set(written.map((file) => `${workspace.prefix}${file}`))
  const differing = await workspace.inspect.differing(candidate.tree, commit)
  return differing.every((path) => paths.has(path))
}

/** Undoes a commit that a hook, or somebody else, has changed: nobody has checked it. */
async function undoCommit({ workspace }: RunPorts, { task }: AttemptNote, commit: string): Promise<void> {
  const { head, branch } = await workspace.inspect.status()
  if (head !== commit)
    throw new UserError(
      `a run died while it committed ${task}, what ${commit.slice(0, 10)} holds was never checked, and more was committed on top of it`,
      'Look at it: git show. To keep it as it is, remove .ralph/run.json; otherwise take it off the branch first.',
    )
  await workspace.restore.commit({ commit, branch })
}

async function enterCommit(
  ports: RunPorts,
  { dead, attempt, made }: { readonly dead: RunNote; readonly attempt: AttemptNote; readonly made: string },
  emit: Emit<Happening>,
): Promise<Inheritance> {
  const { workspace, control, sealer } = ports
  const { branch } = await workspace.inspect.status()
  const head = { id: attempt.task, commit: made, branch }
  const { commit, problem, pending } = await seal({ sealer, signal: control.signal }, head, emit)
  if (problem !== null) emit({ type: 'warning', message: problem })
  const what = attempt.phase === 'working' ? 'its commit was made' : 'the commit that blocks it was made'
  emit(recovered(attempt.task, `${attempt.task}: the last run died after ${what}: ${commit.slice(0, 10)}`))
  if (pending) return { ...NOTHING, spentUsd: dead.spentUsd, unsealed: attempt }
  return { ...NOTHING, spentUsd: sum(dead.spentUsd, attempt.usage.costUsd) }
}

/** Throws if HEAD moved after the last sign of life and nothing of the run is left: a person moved it, and must decide. */
async function refuseForeignMove(
  { workspace }: RunPorts,
  attempt: AttemptNote,
  lastSign: Date,
): Promise<void> {
  const moved = await workspace.inspect.headMovedAt()
  if (moved === null || moved.getTime() <= lastSign.getTime() + SLACK_MS) return
  throw new UserError(
    `a run died while it worked on ${attempt.task} from ${attempt.base.head.slice(0, 10)}, and HEAD was moved after that`,
    'If you moved it and want to go on from here, remove .ralph/run.json; ' +
      `otherwise go back first: git checkout ${attempt.base.branch ?? attempt.base.head}`,
  )
}

/** What recovery has found. */
interface Found {
  readonly work: Work
  readonly record: KeptAttempt | null
  readonly candidate: KeptAttempt | null
  /** A commit that was undone. */
  readonly made: string | null
  readonly undone: readonly string[]
}

async function recordAndRestore(
  ports: RunPorts,
  attempt: AttemptNote,
  found: Found,
  emit: Emit<Happening>,
): Promise<void> {
  const { record, restore, inspect } = ports.workspace
  const { work, candidate, made } = found
  let kept = found.record
  if (await isToBeRecorded(ports, attempt, found)) {
    const commits = [...(candidate ? [candidate.commit] : []), ...(made === null ? [] : [made])]
    kept = await record.keep({
      facts: factsOf(ports, attempt, found),
      work,
      at: ports.now(),
      replaces: kept,
      commits,
    })
    ports.checkpoint('attempt-kept')
  }
  if (!(await restore.head(work.base, work)))
    throw new UserError('somebody moved the branch just now', 'Run ralph again when that has ended.')
  ports.checkpoint('head-restored')
  const { tree } = await inspect.work(work.base)
  const displaced = await restore.tree({ recorded: tree, to: work.base.head })
  if (displaced === null)
    throw new UserError(
      'files are being changed right now, so nothing was moved',
      'Run ralph again when that has ended.',
    )
  ports.checkpoint('tree-restored')
  for (const one of displaced) emit(displacedWarning(one))
  const ref = kept?.ref ?? null
  const message = `${attempt.task}: the last run ${endOf(attempt, { ...found, ref })}`
  emit({ ...recovered(attempt.task, message), ref: ref ?? candidate?.ref ?? null })
}

/** Whether there is work that no ref holds. */
async function isToBeRecorded(
  { workspace }: RunPorts,
  attempt: AttemptNote,
  { work, record, candidate, made }: Found,
): Promise<boolean> {
  if (made !== null) return true
  const { inspect } = workspace
  const commits = work.head?.commits ?? []
  if (candidate) return work.tree !== candidate.tree && work.tree !== (await inspect.treeOf(work.base.head))
  // A record that says "done" holds what the agent had done to git; its work was still to become a candidate.
  if (!record || record.outcome === 'done') return true
  if (commits.some((commit) => !record.parents.includes(commit))) return true
  if (work.tree === record.tree) return false
  // If the run died while restoring, each file equals either the base or the record, though the tree equals neither.
  const fromRecord = new Set(await inspect.differing(record.tree, work.tree))
  const fromBase = await inspect.differing(attempt.base.head, work.tree)
  return fromBase.some((path) => fromRecord.has(path))
}

/** How the run that left an attempt ended, and what happened to the work. */
function endOf(
  { phase, number }: AttemptNote,
  { work: { changes, head }, candidate, ref }: Found & { readonly ref: string | null },
): string {
  if (candidate && ref === null)
    return `died after attempt ${number} had passed: its work is kept under ${candidate.ref}`
  const commits = head?.commits ?? []
  const files = changes.length === 1 ? '1 changed file is' : `${changes.length} changed files are`
  const also = commits.length === 0 ? '' : `, with ${commits.map((commit) => commit.slice(0, 10)).join(', ')}`
  const kept = changes.length + commits.length === 0 ? '' : `${files} kept under ${ref ?? ''}${also}`
  if (phase !== 'blocking') return `died during attempt ${number}: ${kept || 'nothing had changed'}`
  // Either the run died, or git refused the commit.
  return `ended before the commit that blocks it was made${kept && `: ${kept}`}`
}

function factsOf(ports: RunPorts, attempt: AttemptNote, { work, undone }: Found): AttemptFacts {
  const { task, number, base, counted, most, agent, model, tier, usage, log, startedAt } = attempt
  return {
    task,
    number,
    outcome: 'interrupted',
    reason: 'the run was killed',
    detail: '',
    fingerprint: '',
    base: base.head,
    counted,
    most,
    final: false,
    idle: false,
    agent,
    model,
    tier,
    usage,
    seconds: Math.max(0, (statSync(ports.folder.note).mtimeMs - Date.parse(startedAt)) / 1000),
    log,
    gates: null,
    gatesChanged: [],
    runsLater: [],
    criteriaMet: [],
    caged: [],
    undone,
    changed: work.changes.map(({ path }) => path),
  }
}
