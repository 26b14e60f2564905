import { existsSync, mkdirSync, readFileSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { attemptMessage } from '../git/record.ts'
import type { AttemptRecord } from '../git/record.ts'
import { sum } from '../events/usage.ts'
import { UserError } from '../base/errors.ts'
import type { Happening } from '../events/event.ts'
import { readInFlight } from './in-flight.ts'
import type { AttemptInFlight, InFlight } from './in-flight.ts'
import { toldDisplaced } from '../workspace/litter.ts'
import type { RunPorts } from './ports.ts'
import { sealHead } from '../landing/seal-head.ts'
import type { Work } from '../workspace/workspace.ts'

/** What a run that died leaves to the next one. */
export interface Inheritance {
  /** What it had cost; null where nothing was told. */
  readonly spentUsd: number | null
  /** A task that it had given up on, and had not blocked yet; `phase` says whether it was about to. */
  readonly gaveUp: AttemptInFlight | null
  /** A task whose commit is made, and whose seal was interrupted once more. */
  readonly unsealed: AttemptInFlight | null
}

const NOTHING: Inheritance = { spentUsd: null, gaveUp: null, unsealed: null }

/**
 * Goes on from where a run was killed: ends what it left alive, enters a commit that was made, records what is in the
 * tree as an attempt and takes the tree back to where that attempt began. It can be killed itself at any moment.
 */
export async function* recover(ports: RunPorts): AsyncGenerator<Happening, Inheritance> {
  const { folder } = ports
  const dead = readInFlight(folder.inFlight)
  if (!dead) return NOTHING
  if (existsSync(folder.ignored)) {
    const ignored = readFileSync(folder.ignored, 'utf8').split('\0')
    ports.workspace.protect({ ignored, since: dead.cleanSince })
  }
  const lastSign = statSync(folder.inFlight).mtime
  const leftovers = await ports.endLeftovers(dead.mark)
  for (const line of leftovers) yield told(null, `ended what the last run had left running: ${line}`)
  yield* setLocksAside(ports, dead)
  const { attempt, spentUsd } = dead
  if (!attempt) return { ...NOTHING, spentUsd }
  if (await isCommitted(ports, attempt)) return yield* enterCommit(ports, dead, attempt)
  const work = await ports.workspace.inspect(attempt.base)
  if (work.head && leftovers.length === 0) await refuseForeignMove(ports, attempt, lastSign)
  const record = await recordOf(ports, attempt)
  yield* recordAndPutBack(ports, attempt, { work, record })
  return {
    ...NOTHING,
    spentUsd: sum(spentUsd, attempt.usage.costUsd),
    gaveUp: givenUp(attempt, record),
  }
}

/** The record that the run had made of the attempt before it died. */
async function recordOf(ports: RunPorts, { task, number }: AttemptInFlight): Promise<AttemptRecord | null> {
  return (await ports.attempts()).find((record) => record.task === task && record.number === number) ?? null
}

/** The attempt with why it was the last, if it was: its record says so from the moment that it is kept. */
function givenUp(attempt: AttemptInFlight, record: AttemptRecord | null): AttemptInFlight | null {
  if (attempt.phase === 'blocking') return attempt
  return record?.final ? { ...attempt, reason: record.reason } : null
}

/** A commit that was made while the run was committing, perhaps with one of a hook's on top: it says whose it is. */
async function isCommitted({ workspace }: RunPorts, attempt: AttemptInFlight): Promise<boolean> {
  if (attempt.phase !== 'committing' && attempt.phase !== 'blocking') return false
  const { head, branch } = await workspace.look()
  if (head === null || head === attempt.base.head || branch !== attempt.base.branch) return false
  return (
    (await workspace.isAncestor(attempt.base.head, head)) &&
    (await workspace.tasksOf(`${attempt.base.head}..${head}`)).includes(attempt.task)
  )
}

async function* enterCommit(
  ports: RunPorts,
  dead: InFlight,
  attempt: AttemptInFlight,
): AsyncGenerator<Happening, Inheritance> {
  const { head, branch } = await ports.workspace.look()
  const made = { id: attempt.task, commit: head ?? attempt.base.head, branch }
  const { commit, problem, pending } = yield* sealHead(ports, made)
  if (problem !== null) yield { type: 'warning', message: problem }
  const what = attempt.phase === 'committing' ? 'its commit was made' : 'the commit that blocks it was made'
  yield told(attempt.task, `${attempt.task}: the last run died after ${what}: ${commit.slice(0, 10)}`)
  const spentUsd = sum(dead.spentUsd, attempt.usage.costUsd)
  return pending ? { ...NOTHING, spentUsd: dead.spentUsd, unsealed: attempt } : { ...NOTHING, spentUsd }
}

const SLACK_MS = 10_000

/** Whoever moved HEAD after the last sign of life, with nothing of the run left, was a person: it is theirs to say. */
async function refuseForeignMove(
  { workspace }: RunPorts,
  attempt: AttemptInFlight,
  lastSign: Date,
): Promise<void> {
  const moved = await workspace.headMovedAt()
  if (moved === null || moved.getTime() <= lastSign.getTime() + SLACK_MS) return
  throw new UserError(
    `a run died while it worked on ${attempt.task} from ${attempt.base.head.slice(0, 10)}, and HEAD was moved after that`,
    'If you moved it and want to go on from here, remove .ralph/run.json; ' +
      `otherwise go back first: git checkout ${attempt.base.branch ?? attempt.base.head}`,
  )
}

async function* recordAndPutBack(
  ports: RunPorts,
  attempt: AttemptInFlight,
  found: { readonly work: Work; readonly record: AttemptRecord | null },
): AsyncGenerator<Happening, void> {
  const { workspace } = ports
  const { base } = attempt
  const { work, record } = found
  const tree = await workspace.snapshot(work)
  const kept = await workspace.keptAttempt(attempt.task, attempt.number)
  let ref = kept?.ref ?? null
  if (
    !kept ||
    // It was kept for what the agent had done to git, while it counted on becoming the task's commit.
    record?.outcome === 'done' ||
    (await isUnrecorded(ports, { tree, kept: kept.tree, base: base.head })) ||
    hasNewCommits(work, attempt, kept.ref)
  ) {
    const message = attemptMessage(factsOf(ports, attempt, work))
    ref = (
      await workspace.keep({
        task: attempt.task,
        number: attempt.number,
        tree,
        base,
        work,
        message,
        replaces: kept,
      })
    ).ref
    ports.checkpoint('attempt-kept')
  }
  await workspace.fold(base, work)
  ports.checkpoint('head-folded')
  const again = await workspace.inspect(base)
  const displaced = await workspace.putBack(base, tree, again)
  if (displaced === null)
    throw new UserError(
      'files are being changed right now, so nothing was moved',
      'Run ralph again when that has ended.',
    )
  ports.checkpoint('tree-put-back')
  for (const one of displaced) yield toldDisplaced(one)
  yield { ...told(attempt.task, `${attempt.task}: the last run ${endOf(attempt, work, ref)}`), ref }
}

/** How a run that left an attempt in flight ended, and what became of the work. */
function endOf({ phase, number }: AttemptInFlight, { changes, head }: Work, ref: string | null): string {
  const commits = head?.commits ?? []
  const files = changes.length === 1 ? '1 changed file is' : `${changes.length} changed files are`
  const also = commits.length === 0 ? '' : `, with ${commits.map((commit) => commit.slice(0, 10)).join(', ')}`
  const kept = changes.length + commits.length === 0 ? '' : `${files} kept under ${ref ?? ''}${also}`
  if (phase !== 'blocking') return `died during attempt ${number}: ${kept || 'nothing had changed'}`
  // It may have died, or git may have refused the commit.
  return `ended before the commit that blocks it was made${kept && `: ${kept}`}`
}

/** A record that the run made before it died knows the agent's commits already. */
function hasNewCommits(work: Work, attempt: AttemptInFlight, keptRef: string): boolean {
  return (work.head?.commits.length ?? 0) > 0 && attempt.keptRef !== keptRef
}

/** Whether any file is neither as it was recorded nor as the base has it: a half-way tree is both. */
async function isUnrecorded(
  { workspace }: RunPorts,
  { tree, kept, base }: { readonly tree: string; readonly kept: string; readonly base: string },
): Promise<boolean> {
  if (tree === kept) return false
  const fromKept = new Set(await workspace.changedSince(kept, tree))
  const fromBase = await workspace.changedSince(base, tree)
  return fromBase.some((path) => fromKept.has(path))
}

function factsOf(
  ports: RunPorts,
  attempt: AttemptInFlight,
  work: Work,
): Parameters<typeof attemptMessage>[0] {
  const { number, base, tries, agent, model, tier, usage, log } = attempt
  return {
    task: attempt.task,
    number,
    outcome: 'interrupted',
    reason: 'the run was killed',
    detail: '',
    fingerprint: '',
    base: base.head,
    try: attempt.try,
    tries,
    final: false,
    idle: false,
    agent,
    model,
    tier,
    usage,
    seconds: Math.max(0, (statSync(ports.folder.inFlight).mtimeMs - Date.parse(attempt.startedAt)) / 1000),
    log,
    undone: [],
    changed: work.changes.map((change) => change.path),
  }
}

/** A git that died with the run has left locks that would stop every later one; they are moved, not removed. */
async function* setLocksAside(ports: RunPorts, dead: InFlight): AsyncGenerator<Happening, void> {
  const { gitDir, commonDir } = ports.repository
  const branch = dead.attempt?.base.branch
  const locks = [join(gitDir, 'index.lock'), join(gitDir, 'HEAD.lock'), join(commonDir, 'packed-refs.lock')]
  if (branch) locks.push(join(commonDir, `refs/heads/${branch}.lock`))
  if (dead.attempt)
    locks.push(join(commonDir, `refs/ralph/attempts/${dead.attempt.task}/${dead.attempt.number}.lock`))
  for (const lock of locks.filter(
    (path) => existsSync(path) && statSync(path).mtimeMs >= Date.parse(dead.startedAt),
  )) {
    // The git that holds it may have outlived the run, and be about to end.
    for (let wait = 0; wait < 20 && existsSync(lock); wait++) await ports.sleep(100, ports.signal)
    if (!existsSync(lock)) continue
    const aside = join(ports.folder.results, `git-locks-${ports.now().getTime()}`)
    mkdirSync(aside, { recursive: true })
    renameSync(lock, join(aside, lock.split(/[/\\]/).at(-1) ?? 'lock'))
    yield told(null, `a git that died with the last run had left ${lock}; it was moved to ${aside}`)
  }
}

function told(task: string | null, message: string): Extract<Happening, { type: 'recovered' }> {
  return { type: 'recovered', message, task, ref: null }
}
