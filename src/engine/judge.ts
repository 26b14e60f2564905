import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { whyOutside } from '../base/paths.ts'
import type { Happening } from './events/event.ts'
import type { Git } from '../git/git.ts'
import { makePlainCommit } from '../git/made-commit.ts'
import { heldAt } from '../git/tree.ts'
import { checkTree, gatesFor, unchecked, type CheckPorts, type Verdict } from './check.ts'
import { isTestGate } from './gates/test-counts.ts'
import type { Job } from './job.ts'
import { outcome, type Outcome } from './outcome.ts'
import type { AttemptPorts, Emit } from './ports.ts'
import { NOT_REVIEWED, review, type Reviewed } from './review.ts'
import { inspect, type Inspected } from './secrets.ts'
import type { Work } from './slot/slot.ts'
import { baseOutcome } from './witness/run-on.ts'
import { testSide } from './witness/test-files.ts'
import { SILENT, withReasons, witness, type Testimony } from './witness/witness.ts'

/** A verdict on an agent's work, and what the witness says of its tests. */
interface Judgement extends Verdict {
  readonly testimony: Testimony
  readonly inspected: Inspected
  readonly reviewed: Reviewed
}

/** What there is to judge. */
interface Judged {
  readonly end: Outcome
  readonly work: Work
  readonly gatesChanged: readonly string[]
  /** What the agent says of tests that it changed. */
  readonly reasons: readonly string[]
  /** Asks it why, in its conversation; the answer is empty if that is not possible. */
  readonly askWhy: (changes: readonly string[]) => Promise<string>
}

/** Checks an agent's "done": has anything changed, does all that was required exist, do the gates pass, and can they be trusted? */
export async function judge(
  job: Job,
  { end, work, gatesChanged, reasons, askWhy }: Judged,
  ports: AttemptPorts,
  emit: Emit<Happening>,
): Promise<Judgement> {
  const inspected = await inspect(ports.home.git, work.changes, ports.secrets, ports.slot.work.folder.files)
  const refuse = (failed: Outcome): Judgement => ({
    ...unchecked(failed, work.tree),
    testimony: SILENT,
    inspected,
    reviewed: NOT_REVIEWED,
  })
  const speaks = whatSpeaks(job, { end, work }, ports)
  if (speaks === null) return refuse(end)
  if (work.changes.length === 0 && job.task.produces?.length !== 0)
    return refuse(outcome('no-change', 'the agent says that it is done, but no file has changed'))
  const early = inspected.outcome ?? (await objectionTo(job, work, placeOf(ports), emit))
  if (early) return refuse(early)
  if (gatesChanged.length > 0 && job.gatesChanged.action === 'refuse')
    return refuse(outcome('gate-failed', `it changes what decides the gates: ${gatesChanged.join(', ')}`))
  const verdict = {
    ...(await checkWork(job, work, { ...ports, branch: job.base.branch }, emit)),
    testimony: SILENT,
    inspected,
    reviewed: NOT_REVIEWED,
  }
  if (verdict.outcome?.kind === 'gate-failed')
    return {
      ...verdict,
      outcome: (await baseOutcome(job, { work, ...verdict }, ports, emit)) ?? verdict.outcome,
    }
  if (verdict.outcome) return verdict
  const gone = verdict.tree === work.tree ? [] : await goneOutputs(job, verdict.tree, ports)
  if (gone.length > 0) {
    const reason = `the gates remove what was made: ${gone.join(', ')}`
    return { ...verdict, outcome: outcome('gate-failed', reason) }
  }
  const { tree, results } = verdict
  const heard = await witness(
    job,
    { base: work.base, tree, changes: tree === work.tree ? work.changes : null, results, reasons },
    ports,
    emit,
  )
  if (heard.outcome) return { ...verdict, testimony: heard, outcome: heard.outcome }
  const changed = await withReasons(heard.testsChanged, askWhy)
  const testimony = { ...heard, testsChanged: changed }
  const { words } = testimony
  if (changed.length > 0 || words !== null) emit({ type: 'witness', id: job.task.id, changed, words })
  if (speaks === 'new tests' && !testimony.isShown) return { ...verdict, outcome: end }
  const toReview = {
    tree,
    results,
    begun: work.tree,
    tests: [...changed, ...(words === null ? [] : [words])],
  }
  const reviewed = await review(job, toReview, ports, emit)
  return { ...verdict, testimony, reviewed, outcome: reviewed.outcome }
}

async function goneOutputs(job: Job, tree: string, ports: AttemptPorts): Promise<readonly string[]> {
  return (await missingOutputs(job, tree, { ...placeOf(ports), root: ports.slot.check.root })).missing
}

/**
 * What says that the task is done: the agent, or, where it ended without a word, gates with tests, together with something
 * that the task is to produce and that is new or changed, or with new tests that fail without the change. Null if nothing does.
 */
function whatSpeaks(
  { task, gates, tests }: Job,
  { end, work }: { end: Outcome; work: Work },
  { home }: AttemptPorts,
): 'the agent' | 'outputs' | 'new tests' | null {
  if (end.kind === 'done') return 'the agent'
  const changed = work.changes.map(({ path }) => path)
  const ran = gatesFor(gates, changed, home)
  if (end.kind !== 'no-marker' || !ran.some((gate) => isTestGate(gate))) return null
  const made = task.produces?.map((path) => `${home.prefix}${beforeGlob(path)}`.replace(/\/+$/, '')) ?? []
  if (work.changes.some(({ path }) => made.some((one) => path === one || path.startsWith(`${one}/`))))
    return 'outputs'
  const isTestSide = testSide(tests.policy.paths)
  return work.changes.some(({ path, kind }) => kind !== 'gone' && isTestSide(path)) ? 'new tests' : null
}

/** The files that work was taken from. */
interface WorkPlace {
  readonly home: AttemptPorts['home']
  /** The project's root in the folder. */
  readonly root: string
  /** Uses the folder as its work tree. */
  readonly git: Git
}

function placeOf({ home, slot }: AttemptPorts): WorkPlace {
  return { home, root: slot.work.root, git: slot.work.folder.git }
}

/** Runs the gates on work that is based on a commit. `landed` are the changes of others that it was merged with. */
export async function checkWork(
  { task, attempt, gates }: Pick<Job, 'task' | 'attempt' | 'gates'>,
  {
    base,
    tree,
    changes,
    landed = [],
  }: Pick<Work, 'base' | 'tree' | 'changes'> & { landed?: Work['changes'] },
  ports: CheckPorts & { readonly branch?: string | null },
  emit: Emit<Happening>,
): Promise<Verdict> {
  if (gates.length === 0) return unchecked(null, tree)
  const head = await shownCommit(ports, tree, base)
  const changed = changes.map(({ path }) => path)
  const at = { head, branch: ports.branch ?? null }
  const scope = [...changed, ...landed.map(({ path }) => path)]
  return checkTree({ id: task.id, attempt, gates, tree, at, changed, scope }, ports, emit)
}

/** A commit of the tree, for tools that ask git for one: nothing else names it. */
function shownCommit({ home }: CheckPorts, tree: string, base: string): Promise<string> {
  return makePlainCommit(home.git, { tree, parents: [base], message: 'ralph: under check' })
}

/** Why work cannot be committed, whatever its gates say; null if it can. The warnings are for a person. */
export async function objectionTo(
  job: Pick<Job, 'task'>,
  work: Work,
  place: WorkPlace,
  emit: Emit<Happening>,
): Promise<Outcome | null> {
  const { missing, ignored } = await missingOutputs(job, work.tree, place)
  if (missing.length > 0)
    return outcome('missing-output', `not there though Produces names it: ${missing.join(', ')}`)
  if (work.problem !== null) return outcome('gate-failed', `git cannot commit the work: ${work.problem}`)
  const attributes = work.changes.some(
    ({ path }) => path === '.gitattributes' || path.endsWith('/.gitattributes'),
  )
  if (attributes && !(await isStoredAsBefore(job, place)))
    return outcome('gate-failed', `its .gitattributes would have git store ${job.task.file} as other bytes`)
  if (ignored.length > 0) {
    const message = `Produces of ${job.task.id} names what no commit will hold: ${ignored.join(', ')}`
    emit({ type: 'warning', message })
  }
  return null
}

/** The paths under Produces that do not exist, and those that git ignores. */
async function missingOutputs(
  { task }: Pick<Job, 'task'>,
  tree: string,
  { home, root }: WorkPlace,
): Promise<{ readonly missing: readonly string[]; readonly ignored: readonly string[] }> {
  const produced = (task.produces ?? []).map((path) => ({ path, at: beforeGlob(path).replace(/\/+$/, '') }))
  const named = produced.filter(({ at }) => at !== '.' && at !== '')
  const isInside = ({ at }: (typeof named)[number]): boolean => whyOutside(at) === null
  const full = (path: string): string => `${home.prefix}${path}`.replace(/^\.\//, '')
  const held = new Set(
    named.some(isInside)
      ? await heldAt(
          home.git,
          tree,
          named.filter(isInside).map(({ at }) => full(at)),
        )
      : [],
  )
  const absent = named.filter(({ at }) => !held.has(full(at)))
  const isThere = ({ path, at }: (typeof absent)[number]): boolean =>
    path === at && isInside({ path, at }) && existsSync(join(root, at))
  const paths = (some: typeof absent): readonly string[] => some.map(({ path }) => path)
  return { missing: paths(absent.filter((one) => !isThere(one))), ignored: paths(absent.filter(isThere)) }
}

/** The folder before a pattern: for `src/*.ts` nobody said which files there must be. */
function beforeGlob(path: string): string {
  const wild = path.search(/[*?[{]/)
  return wild < 0 ? path : path.slice(0, path.lastIndexOf('/', wild) + 1) || '.'
}

/** Whether git, with the attributes that the work has, would store the task's file as it is in its base. */
async function isStoredAsBefore({ task }: Pick<Job, 'task'>, { home, git }: WorkPlace): Promise<boolean> {
  const args = [
    'check-attr',
    '-z',
    'filter',
    'working-tree-encoding',
    'ident',
    '--',
    `${home.prefix}${task.file}`,
  ]
  const values = (await git.run(args)).stdout.toString().split('\0')
  return values.every((value, index) => index % 3 !== 2 || value === 'unspecified' || value === 'unset')
}
