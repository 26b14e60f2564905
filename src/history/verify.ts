import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Git } from '../git/git.ts'
import { readChanges } from '../git/changes.ts'
import { readLog, type LogEntry } from '../git/log.ts'
import { gatesIn } from '../git/record.ts'
import { trailerValue } from '../git/trailers.ts'
import type { TaskEnd } from '../backlog/model.ts'
import type { TaskVocabulary } from '../backlog/vocabulary.ts'
import { claimsIn } from './completions.ts'
import { commitsByFile } from './file-history.ts'
import { namedCommits, type NamedCommit } from './named-commits.ts'
import { changeOf, turnedDone, turningAmong, type PossibleCommit } from './task-versions.ts'
import { undoneBy, type Undone } from './undone.ts'

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
  const [{ done, named, straight }, [log, undone]] = await Promise.all([
    followFields(git, request),
    readLog(git, { withTrailer: 'Task', reverts: true }).then(
      async (entries) => [entries, await undoneBy(git, entries)] as const,
    ),
  ])
  const verified = new Map<TaskEnd, TaskVerdict>()
  for (const [index, { task, commit }] of named.entries()) {
    const version = straight[index]
    if (version && !undone.has(commit)) verified.set(task, verdictOn(task, commit, version))
  }
  // Usually none are left: the messages of history count only for these.
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

/** The verdict on a task before the gates are read from its commit. */
type TaskVerdict = Omit<VerifiedTask, 'gates'>

/** The gates that commits name, by hash and task number: a squashed commit may name several tasks. */
function gatesNamed(log: readonly LogEntry[]): ReadonlyMap<string, readonly string[] | null> {
  return new Map(
    claimsIn(log).map(({ id, entry }) => [
      `${entry.hash} ${Number(id.slice(2))}`,
      gatesIn(trailerValue(entry.trailers, 'Gates')),
    ]),
  )
}

/** What the Commit fields lead to, before the messages of history are read. */
interface Straight {
  readonly done: readonly TaskEnd[]
  readonly named: readonly NamedCommit[]
  /** For each named commit the file in it, if the commit turned it DONE. */
  readonly straight: readonly (TaskEnd | null)[]
}

async function followFields(git: Git, { readTasks, vocabulary }: VerifyRequest): Promise<Straight> {
  const [{ stdout }, tasks] = await Promise.all([
    git.run(['rev-list', '--parents', 'HEAD']),
    // Reading the files blocks this process: git should run in the meantime.
    nextTurn().then(readTasks),
  ])
  const done = tasks.filter((task) => task.status === 'DONE')
  const named = namedCommits(done, stdout.toString('latin1').trimEnd().split('\n'))
  return { done, named, straight: await turnedByName(git, named, vocabulary) }
}

/** The commits that completed a task for certain, and those that may have. */
interface NamingCommits {
  readonly certain: string[]
  readonly mentioned: string[]
}

interface Findings {
  /** The commits that name a task, and those that undo others. */
  readonly log: readonly LogEntry[]
  /** The commits of this history that a task's field may name. */
  readonly named: readonly PossibleCommit[]
  readonly undone: Undone
  readonly vocabulary: TaskVocabulary
  readonly verified: Map<TaskEnd, TaskVerdict>
}

/** Checks the tasks whose field does not lead to their commit; returns whether history is cut off before one of them. */
async function verifyRest(git: Git, tasks: readonly TaskEnd[], findings: Findings): Promise<boolean> {
  const { log, named, undone, vocabulary, verified } = findings
  const clone = await cloneOf(git)
  const naming = commitsNaming(log)
  const meantBy = (task: TaskEnd): readonly string[] =>
    named.filter((one) => one.task === task).map(({ commit }) => commit)
  const candidates = tasks.flatMap((task) => {
    const { certain = [], mentioned = [] } = naming.get(task.number) ?? {}
    const meant = meantBy(task)
    const commits = new Set([...meant, ...certain, ...mentioned])
    // A single certain claim is taken without a check.
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
      own: naming.get(task.number)?.certain ?? [],
      turned: turned.get(task) ?? new Map<string, TaskEnd>(),
      undone,
    })
    if (verdict) verified.set(task, verdict)
    // If work was undone and done again, only the file shows the commit.
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
 * The tasks whose field names a commit of this history that did not complete them but was probably meant: it names
 * the task in its subject, changes its file, or there is no better one.
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
  const [entries, changes] = await Promise.all([readLog(git, { commits }), readChanges(git, { commits })])
  const subjects = new Map(entries.map(({ hash, subject }) => [hash, subject]))
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
 * The named commit if it is the task's, else the first of the others that turned the file DONE or claims that. One
 * that was undone only if there is no other.
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

/** The state of a task whose file does not name its commit. */
function stateElsewhere({ commit }: TaskEnd): VerifyState {
  return commit === null ? 'matches' : 'moved'
}

/** The verdict on a commit that turned the file DONE: does the file in it name it? */
function verdictOn({ id, commit }: TaskEnd, found: string, version: TaskEnd): TaskVerdict {
  const namesItself = version.commit !== null && found.startsWith(version.commit.toLowerCase())
  return { id, commit, found, state: namesItself ? 'sealed' : 'matches', reverted: false }
}

/**
 * No commit claims the task. If the file names none, the one that turned it DONE counts: so tasks look that people
 * have completed.
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

/** The commits that name tasks, by task number, newest first. */
function commitsNaming(log: readonly LogEntry[]): ReadonlyMap<number, NamingCommits> {
  const naming = new Map<number, NamingCommits>()
  const of = (id: string): NamingCommits => {
    const number = Number(id.slice(2))
    const known = naming.get(number) ?? { certain: [], mentioned: [] }
    naming.set(number, known)
    return known
  }
  for (const { id, entry, isCertain } of claimsIn(log))
    (isCertain ? of(id).certain : of(id).mentioned).push(entry.hash)
  // In the message of a squash git recognises at most the last lines as trailers, and may indent all.
  for (const { hash, body } of log)
    for (const [, id = ''] of body.matchAll(/^[ \t]*Task: (T-\d+)$/gim)) of(id).mentioned.push(hash)
  return naming
}

async function cloneOf(git: Git): Promise<{ readonly prefix: string; readonly isShallow: boolean }> {
  const { stdout } = await git.run(['rev-parse', '--is-shallow-repository', '--show-prefix'])
  const [shallow = '', prefix = ''] = stdout.toString().split('\n')
  return { prefix, isShallow: shallow === 'true' }
}
