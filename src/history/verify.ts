import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Git } from '../git/git.ts'
import { readChanges } from '../git/raw-changes.ts'
import { readLog, type LogEntry } from '../git/log.ts'
import { gatesIn } from '../git/record.ts'
import { trailerValue } from '../git/trailers.ts'
import type { TaskIds, TaskNumber } from '../backlog/ids.ts'
import type { TaskEnd } from '../backlog/model.ts'
import type { TaskVocabulary } from '../backlog/vocabulary.ts'
import { claimsIn, undoneBy, type Undone } from './completions.ts'
import { namedCommits, type NamedCommit } from './named-commits.ts'
import { changeOf, stepsOf, turnedDone } from './task-versions.ts'

/**
 * How a DONE task agrees with history. `sealed`: the named commit turned the file DONE, and the file in it names it.
 * `matches`: the named commit is the task's, but the field was written later, or is missing. `moved`: the task has
 * another commit now, after a squash, a rebase or a revert. `missing`: the named commit does not exist, and no other
 * claims the task. `not-completing`: the named commit exists and did not turn the file DONE.
 */
export type VerifyState = 'sealed' | 'matches' | 'moved' | 'missing' | 'not-completing'

/** A DONE task, compared with history. */
export interface VerifiedTask {
  readonly id: string
  /** The commit that the task file names. */
  readonly commit: string | null
  /** The full hash of the commit that completed it; if that is missing, the one that turned its file DONE. */
  readonly found: string | null
  readonly state: VerifyState
  /** The gates that passed on that commit: empty if there were none, null if it does not say. */
  readonly gates: readonly string[] | null
  /** Whether another commit undid that one, though the file is DONE. */
  readonly reverted: boolean
}

/** What to check. Git runs in the project's root. */
interface VerifyRequest {
  readonly readTasks: () => Promise<readonly TaskEnd[]>
  readonly vocabulary: TaskVocabulary
}

/** All DONE tasks, compared with history. */
export interface Verification {
  readonly tasks: readonly VerifiedTask[]
  /** Whether tasks are missing in a clone without its older history, which may contain them. */
  readonly isCutOff: boolean
}

/** Checks every DONE task against history, with a few git processes for any number of tasks. */
export async function verifyTasks(git: Git, request: VerifyRequest): Promise<Verification> {
  const { vocabulary } = request
  const [{ done, named, turned }, log] = await Promise.all([
    followFields(git, request),
    readLog(git, { withTrailer: 'Task', reverts: true }),
  ])
  const [undone, claims] = [await undoneBy(git, log), claimsByNumber(log, vocabulary.ids)]
  const verified = new Map<TaskEnd, TaskVerdict>()
  for (const { task, commit: found, version } of turned) {
    const { id, commit } = task
    if (!undone.has(found))
      verified.set(task, { id, commit, found, state: stateOf(found, version), reverted: false })
  }
  // Usually none are left: older versions of files count only for these.
  const left = done.filter((task) => !verified.has(task))
  const isCutOff =
    left.length > 0 && (await verifyRest(git, left, { claims, named, undone, vocabulary, verified }))
  const tasks = done.flatMap((task) => {
    const verdict = verified.get(task)
    const gates = claims.get(task.number)?.get(verdict?.found ?? '')?.gates ?? null
    return verdict ? [{ ...verdict, gates }] : []
  })
  return { tasks, isCutOff }
}

/** The verdict on a task before the gates are read from its commit. */
type TaskVerdict = Omit<VerifiedTask, 'gates'>

/** What the Commit fields lead to: the commits of this history, and those of them that turned the file DONE. */
async function followFields(git: Git, { readTasks, vocabulary }: VerifyRequest) {
  const [{ stdout }, tasks] = await Promise.all([
    git.run(['rev-list', '--parents', 'HEAD']),
    // Reading the files blocks this process: git should run in the meantime.
    nextTurn().then(readTasks),
  ])
  const done = tasks.filter((task) => task.status === 'DONE')
  const named = namedCommits(done, stdout.toString('latin1').trimEnd().split('\n'))
  const steps = named.map(({ task, commit, parent }) => ({
    task,
    commit,
    before: parent === null ? null : `${parent}:./${task.file}`,
    after: `${commit}:./${task.file}`,
  }))
  return { done, named, turned: await turnedDone(git, steps, vocabulary) }
}

interface Findings {
  readonly claims: ReturnType<typeof claimsByNumber>
  /** The commits of this history that a task's field may name. */
  readonly named: readonly NamedCommit[]
  readonly undone: Undone
  readonly vocabulary: TaskVocabulary
  readonly verified: Map<TaskEnd, TaskVerdict>
}

/** Checks the tasks whose field does not lead to their commit; returns whether history is cut off before one of them. */
async function verifyRest(git: Git, tasks: readonly TaskEnd[], findings: Findings): Promise<boolean> {
  const { claims, named, undone, vocabulary, verified } = findings
  const { ids } = vocabulary
  const { prefix, isShallow } = await cloneOf(git)
  const history = await readChanges(git, { patterns: ids.globs })
  const claimsOn = ({ number }: TaskEnd): Claims => claims.get(number) ?? new Map<string, Claim>()
  const steps = tasks.flatMap((task) =>
    stepsOf(task, `${prefix}${task.file}`, history, { claims: claimsOn(task), ids }),
  )
  // The oldest commits of a shallow clone seem to add all files.
  const oldest = isShallow ? history.filter(({ parents }) => parents.length === 0) : []
  const seeming = new Set(oldest.map(({ commit }) => commit))
  const turned = (await turnedDone(git, steps, vocabulary)).filter(
    ({ task, commit }) => !seeming.has(commit) || claimsOn(task).has(commit),
  )
  for (const task of tasks) {
    const evidence = {
      named: named.filter((one) => one.task === task).map(({ commit }) => commit),
      claims: claimsOn(task),
      turned: turned.filter((one) => one.task === task),
    }
    verified.set(task, verdictFrom(task, evidence, undone))
  }
  const changesOf = new Map(history.map(({ commit, changes }) => [commit, changes]))
  const isOwn = ({ task, commit }: NamedCommit): boolean =>
    changeOf({ number: task.number, path: `${prefix}${task.file}`, ids }, changesOf.get(commit) ?? []) !==
    null
  for (const task of await namingTheirOwn(git, tasks, findings, isOwn))
    verified.set(task, { ...verified.get(task)!, state: 'not-completing' })
  return isShallow && tasks.some((task) => verified.get(task)?.state === 'missing')
}

/**
 * The tasks whose field names a commit of this history that did not complete them but was probably meant: it names
 * the task in its subject, changes its file, or there is no better one.
 */
async function namingTheirOwn(
  git: Git,
  tasks: readonly TaskEnd[],
  { named, undone, vocabulary, verified }: Findings,
  isOwn: (named: NamedCommit) => boolean,
): Promise<ReadonlySet<TaskEnd>> {
  const left = new Set(tasks)
  const open = named.filter(({ task, commit }) => {
    const isOther = left.has(task) && verified.get(task)?.found !== commit
    return isOther && !undone.has(commit)
  })
  if (open.length === 0) return new Set()
  const entries = await readLog(git, { commits: [...new Set(open.map(({ commit }) => commit))] })
  const subjects = new Map(entries.map(({ hash, subject }) => [hash, subject]))
  const own = open.filter(
    (one) =>
      verified.get(one.task)?.state === 'missing' ||
      namesTask(subjects.get(one.commit) ?? '', one.task.number, vocabulary.ids) ||
      isOwn(one),
  )
  return new Set(own.map(({ task }) => task))
}

function namesTask(subject: string, number: TaskNumber, ids: TaskIds): boolean {
  const anyId = ids.regex(String.raw`(?<![\w-])<named>(?!\d)`, 'gi')
  return [...subject.matchAll(anyId)].some(([id]) => ids.numberOf(id) === number)
}

interface Evidence {
  readonly named: readonly string[]
  readonly claims: Claims
  /** The commits that turned the task's file DONE, perhaps at another path, and the file in it. */
  readonly turned: readonly {
    readonly commit: string
    readonly isElsewhere: boolean
    readonly version: TaskEnd
  }[]
}

/**
 * The named commit if it is the task's, else the first of the others that turned the file DONE or claims that. One
 * that was undone only if there is no other. Without any claim, and where work was undone and done again, it is the
 * commit that turned the file DONE.
 */
function verdictFrom(task: TaskEnd, { named, claims, turned }: Evidence, undone: Undone): TaskVerdict {
  const { id, commit } = task
  const certain = [...claims].flatMap(([hash, { isCertain }]) => (isCertain ? [hash] : []))
  const versions = new Map(turned.map((one) => [one.commit, one.version]))
  const [here, elsewhere] = [false, true].map((isElsewhere) =>
    turned.filter((one) => one.isElsewhere === isElsewhere).map((one) => one.commit),
  ) as [string[], string[]]
  const claimed = [
    ...named.filter((hash) => versions.has(hash)),
    ...named.filter((hash) => certain.includes(hash)),
    ...[...here, ...elsewhere].filter((hash) => claims.has(hash)),
    ...certain,
  ]
  const candidates = [...claimed, ...here.slice(0, 1)]
  const found = candidates.find((hash) => !undone.has(hash)) ?? candidates[0] ?? null
  const reverted = found !== null && undone.has(found)
  if (claimed.length === 0) {
    // So tasks look that people have completed.
    const state = commit === null && found !== null ? 'matches' : 'missing'
    return { id, commit, found, state, reverted }
  }
  const isNamed = found !== null && named.includes(found)
  const other = commit === null ? 'matches' : 'moved'
  return { id, commit, found, state: isNamed ? stateOf(found, versions.get(found)) : other, reverted }
}

/** The state of a commit that a task names: does the file in it name the commit? */
function stateOf(commit: string, version: TaskEnd | undefined): VerifyState {
  const named = version?.commit?.toLowerCase()
  return named !== undefined && commit.startsWith(named) ? 'sealed' : 'matches'
}

/** What a commit says of a task that it names. */
interface Claim {
  /** Whether it completed the task for certain. */
  readonly isCertain: boolean
  readonly gates: VerifiedTask['gates']
}

/** The commits that name a task, newest first. */
type Claims = ReadonlyMap<string, Claim>

function claimsByNumber(log: readonly LogEntry[], ids: TaskIds): ReadonlyMap<TaskNumber, Claims> {
  const claims = new Map<TaskNumber, Map<string, Claim>>()
  const add = (id: string, commit: string, claim: Claim): void => {
    const number = ids.numberOf(id)
    const known = claims.get(number) ?? new Map<string, Claim>()
    if (!known.get(commit)?.isCertain) claims.set(number, known.set(commit, claim))
  }
  for (const { id, entry, isCertain } of claimsIn(log, ids))
    add(id, entry.hash, { isCertain, gates: gatesIn(trailerValue(entry.trailers, 'Gates')) })
  // In the message of a squash git recognises at most the last lines as trailers, and may indent all.
  for (const { hash, body } of log)
    for (const [, id = ''] of body.matchAll(ids.regex(String.raw`^[ \t]*Task: (<id>)$`, 'gim')))
      add(id, hash, claims.get(ids.numberOf(id))?.get(hash) ?? { isCertain: false, gates: null })
  return claims
}

async function cloneOf(git: Git): Promise<{ readonly prefix: string; readonly isShallow: boolean }> {
  const { stdout } = await git.run(['rev-parse', '--is-shallow-repository', '--show-prefix'])
  const [shallow = '', prefix = ''] = stdout.toString().split('\n')
  return { prefix, isShallow: shallow === 'true' }
}
