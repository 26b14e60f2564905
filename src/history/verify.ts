import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Git } from '../git/git.ts'
import { readChanges } from '../git/changes.ts'
import { readLog, readSubjects, type LogEntry } from '../git/log.ts'
import { gatesIn } from '../git/record.ts'
import { trailerValue } from '../git/trailers.ts'
import type { TaskEnd } from '../task/model.ts'
import type { TaskVocabulary } from '../task/vocabulary.ts'
import { claimsIn } from './completions.ts'
import { commitsByFile } from './file-history.ts'
import { namedCommits, type NamedCommit } from './named-commits.ts'
import { changeOf, turnedDone, turningAmong, type PossibleCommit } from './task-versions.ts'
import { undoneBy, type Undone } from './undone.ts'

/**
 * How a DONE task and history agree. `sealed`: the named commit turned the file DONE, and names itself in it. `matches`:
 * the commit is there and is the task's, but the field was written later, or there is none. `moved`: the task's commit
 * is another by now, after a squash or a rebase, or since the named one was undone. `missing`: the named commit is not
 * there, and none says that it is the task's. `not-completing`: the named commit is there and did not turn the file DONE.
 */
export type VerifyState = 'sealed' | 'matches' | 'moved' | 'missing' | 'not-completing'

/** How a DONE task and history agree. */
export interface VerifiedTask {
  readonly id: string
  /** As the task file names it. */
  readonly commit: string | null
  /** The whole hash of the commit that completed it; of a missing one that which turned its file DONE, if one did. */
  readonly found: string | null
  readonly state: VerifyState
  /** The gates that passed on that commit, as it says: none at all where it is empty, null where it does not say. */
  readonly gates: readonly string[] | null
  /** Whether another commit says that it undoes that one, though the file is DONE. */
  readonly reverted: boolean
}

/** What is checked. Git runs in the project's root. */
interface VerifyRequest {
  readonly readTasks: () => Promise<readonly TaskEnd[]>
  readonly vocabulary: TaskVocabulary
}

/** How all DONE tasks and history agree. */
export interface Verification {
  readonly tasks: readonly VerifiedTask[]
  /** Whether tasks are missing in a clone that holds only the end of history: they may well be in the rest. */
  readonly isCutOff: boolean
}

/** Checks every DONE task against history, in a handful of git processes however many there are. */
export async function verifyTasks(git: Git, request: VerifyRequest): Promise<Verification> {
  const { vocabulary } = request
  const [{ done, named, straight }, [log, undone]] = await Promise.all([
    lookStraight(git, request),
    readLog(git, { withTrailer: 'Task', reverts: true }).then(
      async (entries) => [entries, await undoneBy(git, entries)] as const,
    ),
  ])
  const verified = new Map<TaskEnd, TaskVerdict>()
  for (const [index, { task, commit }] of named.entries()) {
    const version = straight[index]
    if (version && !undone.has(commit)) verified.set(task, verdictOn(task, commit, version))
  }
  // Mostly that is all. Only where it is not does it matter what history says of itself.
  const left = done.filter((task) => !verified.has(task))
  const isCutOff =
    left.length > 0 && (await verifyRest(git, left, { log, named, undone, vocabulary, verified }))
  const gates = gatesNamed(log)
  const tasks = done.flatMap((task) => {
    const verdict = verified.get(task)
    return verdict
      ? [{ ...verdict, gates: gates.get(`${verdict.found} ${Number(task.id.slice(2))}`) ?? null }]
      : []
  })
  return { tasks, isCutOff }
}

/** What is known of a task before its commit is asked for its gates. */
type TaskVerdict = Omit<VerifiedTask, 'gates'>

/** The gates that commits name, by hash and number of the task: a squashed one may name several. */
function gatesNamed(log: readonly LogEntry[]): ReadonlyMap<string, readonly string[] | null> {
  return new Map(
    claimsIn(log).map(({ id, entry }) => [
      `${entry.hash} ${Number(id.slice(2))}`,
      gatesIn(trailerValue(entry.trailers, 'Gates')),
    ]),
  )
}

/** What the fields of the task files lead to, before history is asked what it says of itself. */
interface Straight {
  readonly done: readonly TaskEnd[]
  readonly named: readonly NamedCommit[]
  /** For each of those that are named what the file said there, if that turned it DONE. */
  readonly straight: readonly (TaskEnd | null)[]
}

async function lookStraight(git: Git, { readTasks, vocabulary }: VerifyRequest): Promise<Straight> {
  const [{ stdout }, tasks] = await Promise.all([
    git.run(['rev-list', '--parents', 'HEAD']),
    // Reading them lets nothing else happen: git is to be at work by then.
    nextTurn().then(readTasks),
  ])
  const done = tasks.filter((task) => task.status === 'DONE')
  const named = namedCommits(done, stdout.toString('latin1').trimEnd().split('\n'))
  return { done, named, straight: await turnedByName(git, named, vocabulary) }
}

/** What history tells of a task: the commits that are certain to have completed it, and those that may have. */
interface Told {
  readonly certain: string[]
  readonly mentioned: string[]
}

interface Findings {
  /** The commits that name a task, and those that undo others. */
  readonly log: readonly LogEntry[]
  /** The commits of this history that a task's field may mean. */
  readonly named: readonly PossibleCommit[]
  readonly undone: Undone
  readonly vocabulary: TaskVocabulary
  readonly verified: Map<TaskEnd, TaskVerdict>
}

/** The tasks whose field does not lead straight to where they were done; whether history is cut off before some. */
async function verifyRest(git: Git, tasks: readonly TaskEnd[], findings: Findings): Promise<boolean> {
  const { log, named, undone, vocabulary, verified } = findings
  const clone = await cloneOf(git)
  const told = commitsTold(log)
  const meantBy = (task: TaskEnd): readonly string[] =>
    named.filter((one) => one.task === task).map(({ commit }) => commit)
  const candidates = tasks.flatMap((task) => {
    const { certain = [], mentioned = [] } = told.get(task.number) ?? {}
    const meant = meantBy(task)
    const commits = new Set([...meant, ...certain, ...mentioned])
    // The only one that says so is believed without a look.
    return meant.length === 0 && commits.size === certain.length && commits.size === 1
      ? []
      : [...commits].map((commit) => ({ task, commit }))
  })
  const turned = new Map<TaskEnd, Map<string, TaskEnd>>()
  for (const { task, commit, version } of await turningAmong(git, candidates, { ...clone, vocabulary }))
    turned.set(task, (turned.get(task) ?? new Map<string, TaskEnd>()).set(commit, version))
  const unknown: TaskEnd[] = []
  for (const task of tasks) {
    const verdict = verdictFrom(task, {
      named: meantBy(task),
      own: told.get(task.number)?.certain ?? [],
      turned: turned.get(task) ?? new Map<string, TaskEnd>(),
      undone,
    })
    if (verdict) verified.set(task, verdict)
    // Of work that was undone and that somebody did again, only the file may tell.
    if (!verdict || verdict.reverted) unknown.push(task)
  }
  const byFile = await commitsByFile(git, unknown, { ...clone, vocabulary })
  for (const task of unknown) {
    const found = byFile.get(task) ?? null
    const known = verified.get(task)
    if (!known) verified.set(task, verdictByFile(task, found, undone))
    else if (found !== null && !undone.has(found))
      verified.set(task, { ...known, found, state: stateElsewhere(task), reverted: false })
  }
  for (const task of await namingTheirOwn(git, tasks, findings, clone.prefix))
    verified.set(task, { ...verified.get(task)!, state: 'not-completing' })
  return clone.isShallow && unknown.some((task) => verified.get(task)?.state === 'missing')
}

/**
 * The tasks whose field names a commit of this history that did not complete them and still is what somebody meant: it
 * names the task in its subject or changes its file, or there is no better one.
 */
async function namingTheirOwn(
  git: Git,
  tasks: readonly TaskEnd[],
  { named, undone, verified }: Findings,
  prefix: string,
): Promise<ReadonlySet<TaskEnd>> {
  const left = new Set(tasks)
  const open = named.filter(({ task, commit }) => {
    const isOther = left.has(task) && verified.get(task)?.found !== commit
    return isOther && !undone.has(commit)
  })
  if (open.length === 0) return new Set()
  const commits = [...new Set(open.map(({ commit }) => commit))]
  const [subjects, changes] = await Promise.all([readSubjects(git, commits), readChanges(git, { commits })])
  const changesOf = new Map(changes.map((one) => [one.commit, one.changes]))
  const own = open.filter(
    ({ task, commit }) =>
      verified.get(task)?.state === 'missing' ||
      namesTask(subjects.get(commit) ?? '', task.number) ||
      changeOf(task, `${prefix}${task.file}`, changesOf.get(commit) ?? []) !== null,
  )
  return new Set(own.map(({ task }) => task))
}

function namesTask(subject: string, number: number): boolean {
  return [...subject.matchAll(/(?<![\w-])T-(\d{1,12})(?!\d)/gi)].some(
    ([, digits]) => Number(digits) === number,
  )
}

interface Evidence {
  readonly named: readonly string[]
  readonly own: readonly string[]
  readonly turned: ReadonlyMap<string, TaskEnd>
  readonly undone: Undone
}

/**
 * The named commit if it is the task's, else the first of the others that turned the file DONE, or that says it is. One
 * that was undone only where there is no other.
 */
function verdictFrom(task: TaskEnd, { named, own, turned, undone }: Evidence): TaskVerdict | null {
  const { id, commit } = task
  const candidates = [
    ...named.filter((hash) => turned.has(hash)),
    ...named.filter((hash) => own.includes(hash)),
    ...turned.keys(),
    ...own,
  ]
  const found = candidates.find((hash) => !undone.has(hash)) ?? candidates[0]
  if (found === undefined) return null
  const reverted = undone.has(found)
  if (!named.includes(found)) return { id, commit, found, state: stateElsewhere(task), reverted }
  const version = turned.get(found)
  return version
    ? { ...verdictOn(task, found, version), reverted }
    : { id, commit, found, state: 'matches', reverted }
}

/** Of a task whose commit is none that its file names. */
function stateElsewhere({ commit }: TaskEnd): VerifyState {
  return commit === null ? 'matches' : 'moved'
}

/** Of the commit that turned the file DONE: whether it names itself there. */
function verdictOn({ id, commit }: TaskEnd, found: string, version: TaskEnd): TaskVerdict {
  const namesItself = version.commit !== null && found.startsWith(version.commit.toLowerCase())
  return { id, commit, found, state: namesItself ? 'sealed' : 'matches', reverted: false }
}

/**
 * No commit says that it is the task's. Where the file names none, the one that turned it DONE will do: that is how a
 * task looks that people have done, before there was ralph or beside it.
 */
function verdictByFile({ id, commit }: TaskEnd, found: string | null, undone: Undone): TaskVerdict {
  const state = commit === null && found !== null ? 'matches' : 'missing'
  return { id, commit, found, state, reverted: found !== null && undone.has(found) }
}

function turnedByName(
  git: Git,
  named: readonly NamedCommit[],
  vocabulary: TaskVocabulary,
): Promise<readonly (TaskEnd | null)[]> {
  const pairs = named.map(({ task, commit, parent }) => ({
    task,
    before: parent === null ? null : `${parent}:./${task.file}`,
    after: `${commit}:./${task.file}`,
  }))
  return turnedDone(git, pairs, vocabulary)
}

/** By the tasks' numbers, newest first. */
function commitsTold(log: readonly LogEntry[]): ReadonlyMap<number, Told> {
  const told = new Map<number, Told>()
  const of = (id: string): Told => {
    const number = Number(id.slice(2))
    const known = told.get(number) ?? { certain: [], mentioned: [] }
    told.set(number, known)
    return known
  }
  for (const { id, entry, isCertain } of claimsIn(log))
    (isCertain ? of(id).certain : of(id).mentioned).push(entry.hash)
  // Of a message that several were made into, git takes at the most the last lines for trailers, and may indent all.
  for (const { hash, body } of log)
    for (const [, id = ''] of body.matchAll(/^[ \t]*Task: (T-\d+)$/gim)) of(id).mentioned.push(hash)
  return told
}

async function cloneOf(git: Git): Promise<{ readonly prefix: string; readonly isShallow: boolean }> {
  const { stdout } = await git.run(['rev-parse', '--is-shallow-repository', '--show-prefix'])
  const [shallow = '', prefix = ''] = stdout.toString().split('\n')
  return { prefix, isShallow: shallow === 'true' }
}
