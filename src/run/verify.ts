import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Git } from '../git/git.ts'
import { readLog, type LogEntry } from '../git/history.ts'
import type { TaskEnd } from '../task/model.ts'
import type { TaskVocabulary } from '../task/vocabulary.ts'
import { completingEntries } from './completions.ts'
import { commitsByFile } from './file-history.ts'
import { turnedDone, turningAmong, type Candidate } from './task-versions.ts'

/**
 * How a DONE task and history agree. `sealed`: the named commit turned the file DONE, and names itself in it. `matches`:
 * the commit is there and is the task's, but the field was written later, or there is none. `moved`: the task's commit
 * is another by now, after a squash or a rebase. `missing`: the named commit is not there, and none says that it is the
 * task's.
 */
export type VerifyState = 'sealed' | 'matches' | 'moved' | 'missing'

export interface VerifiedTask {
  readonly id: string
  /** As the task file names it. */
  readonly commit: string | null
  /** The whole hash of the commit that completed it; of a missing one that which turned its file DONE, if one did. */
  readonly found: string | null
  readonly state: VerifyState
}

/** What is checked. Git runs in the project's root. */
export interface VerifyRequest {
  readonly readTasks: () => Promise<readonly TaskEnd[]>
  readonly vocabulary: TaskVocabulary
}

export interface Verification {
  readonly tasks: readonly VerifiedTask[]
  /** Whether tasks are missing in a clone that holds only the end of history: they may well be in the rest. */
  readonly isCutOff: boolean
}

/** Checks every DONE task against history, in a handful of git processes however many there are. */
export async function verifyTasks(git: Git, { readTasks, vocabulary }: VerifyRequest): Promise<Verification> {
  const [{ stdout }, tasks] = await Promise.all([
    git.run(['rev-list', '--parents', 'HEAD']),
    // Reading them lets nothing else happen: git is to be at work by then.
    nextTurn().then(readTasks),
  ])
  const done = tasks.filter((task) => task.status === 'DONE')
  if (done.length === 0) return { tasks: [], isCutOff: false }
  const named = namedCommits(done, stdout.toString('latin1').trimEnd().split('\n'))
  const straight = await turnedByName(git, named, vocabulary)
  const verified = new Map<TaskEnd, VerifiedTask>()
  for (const [index, { task, commit }] of named.entries()) {
    const version = straight[index]
    if (version) verified.set(task, verdictOn(task, commit, version))
  }
  // Mostly that is all. Only where it is not does it matter what history says of itself.
  const left = done.filter((task) => !verified.has(task))
  const isCutOff = left.length > 0 && (await verifyRest(git, left, { named, vocabulary, verified }))
  return { tasks: done.flatMap((task) => verified.get(task) ?? []), isCutOff }
}

/** What history tells of a task: the commits whose trailer names it, and those that mention it like one. */
interface Told {
  readonly byTrailer: string[]
  readonly mentioned: string[]
}

interface Findings {
  /** The commits of this history that a task's field may mean. */
  readonly named: readonly Candidate[]
  readonly vocabulary: TaskVocabulary
  readonly verified: Map<TaskEnd, VerifiedTask>
}

/** The tasks whose field does not lead straight to where they were done; whether history is cut off before some. */
async function verifyRest(git: Git, tasks: readonly TaskEnd[], findings: Findings): Promise<boolean> {
  const { named, vocabulary, verified } = findings
  const [log, clone] = await Promise.all([
    readLog(git, { withTrailer: 'Task', andReverts: true }),
    cloneOf(git),
  ])
  const told = commitsTold(log)
  const candidates = tasks.flatMap((task) => {
    const { byTrailer = [], mentioned = [] } = told.get(task.number) ?? {}
    const meant = named.filter((one) => one.task === task).map(({ commit }) => commit)
    const commits = new Set([...meant, ...byTrailer, ...mentioned])
    // The only one that says so is believed without a look.
    return meant.length === 0 && commits.size === byTrailer.length && commits.size === 1
      ? []
      : [...commits].map((commit) => ({ task, commit }))
  })
  const turned = new Map<TaskEnd, Map<string, TaskEnd>>()
  for (const { task, commit, version } of await turningAmong(git, candidates, { ...clone, vocabulary }))
    turned.set(task, (turned.get(task) ?? new Map<string, TaskEnd>()).set(commit, version))
  const unknown: TaskEnd[] = []
  for (const task of tasks) {
    const verdict = verdictFrom(task, {
      named: named.filter((one) => one.task === task).map(({ commit }) => commit),
      own: told.get(task.number)?.byTrailer ?? [],
      turned: turned.get(task) ?? new Map<string, TaskEnd>(),
    })
    if (verdict) verified.set(task, verdict)
    else unknown.push(task)
  }
  const byFile = await commitsByFile(git, unknown, { ...clone, vocabulary })
  for (const task of unknown) verified.set(task, verdictByFile(task, byFile.get(task) ?? null))
  return clone.isShallow && unknown.some((task) => verified.get(task)?.state === 'missing')
}

interface Evidence {
  readonly named: readonly string[]
  readonly own: readonly string[]
  readonly turned: ReadonlyMap<string, TaskEnd>
}

/** The named commit if it is the task's, else the first of the others that turned the file DONE, or that says it is. */
function verdictFrom(task: TaskEnd, { named, own, turned }: Evidence): VerifiedTask | null {
  const { id, commit } = task
  const straight = named.find((hash) => turned.has(hash)) ?? named.find((hash) => own.includes(hash))
  const version = straight === undefined ? undefined : turned.get(straight)
  if (straight !== undefined)
    return version ? verdictOn(task, straight, version) : { id, commit, found: straight, state: 'matches' }
  const [found = own[0]] = turned.keys()
  return found === undefined ? null : { id, commit, found, state: commit === null ? 'matches' : 'moved' }
}

/** Of the commit that turned the file DONE: whether it names itself there. */
function verdictOn({ id, commit }: TaskEnd, found: string, version: TaskEnd): VerifiedTask {
  const namesItself = version.commit !== null && found.startsWith(version.commit.toLowerCase())
  return { id, commit, found, state: namesItself ? 'sealed' : 'matches' }
}

/**
 * No commit says that it is the task's. Where the file names none, the one that turned it DONE will do: that is how a
 * task looks that people have done, before there was ralph or beside it.
 */
function verdictByFile({ id, commit }: TaskEnd, found: string | null): VerifiedTask {
  return { id, commit, found, state: commit === null && found !== null ? 'matches' : 'missing' }
}

function turnedByName(
  git: Git,
  named: readonly Named[],
  vocabulary: TaskVocabulary,
): Promise<readonly (TaskEnd | null)[]> {
  const pairs = named.map(({ task, commit, parent }) => ({
    task,
    before: parent === null ? null : `${parent}:./${task.file}`,
    after: `${commit}:./${task.file}`,
  }))
  return turnedDone(git, pairs, vocabulary)
}

/** By the tasks' numbers, newest first, those that were undone last. */
function commitsTold(log: readonly LogEntry[]): ReadonlyMap<number, Told> {
  const told = new Map<number, Told>()
  const of = (id: string): Told => {
    const number = Number(id.slice(2))
    const known = told.get(number) ?? { byTrailer: [], mentioned: [] }
    told.set(number, known)
    return known
  }
  const completing = completingEntries(log)
  for (const undone of [false, true])
    for (const { id, entry, reverted } of completing)
      if (reverted === undone) of(id).byTrailer.push(entry.hash)
  // Of a message that several were made into, git takes at the most the last lines for trailers, and may indent all.
  for (const { hash, body } of log)
    for (const [, id = ''] of body.matchAll(/^[ \t]*Task: (T-\d+)$/gim)) of(id).mentioned.push(hash)
  return told
}

/** A commit that a task's field may mean. */
interface Named extends Candidate {
  /** Its first parent; null of a commit that has none, here at least. */
  readonly parent: string | null
}

/**
 * The commits of this history that the tasks' fields may mean, newest first: one a task, unless its digits are too few by
 * now. Each line is a commit and its parents.
 */
function namedCommits(tasks: readonly TaskEnd[], lines: readonly string[]): readonly Named[] {
  const byStart = new Map<string, { readonly task: TaskEnd; readonly prefix: string }[]>()
  for (const task of tasks) {
    const prefix = prefixOf(task)
    if (prefix === null) continue
    const start = prefix.slice(0, FEWEST_DIGITS)
    byStart.set(start, [...(byStart.get(start) ?? []), { task, prefix }])
  }
  return lines.flatMap((line) => {
    const meant = byStart.get(line.slice(0, FEWEST_DIGITS))?.filter(({ prefix }) => line.startsWith(prefix))
    if (!meant) return []
    const [commit = '', parent = null] = line.split(' ')
    return meant.map(({ task }) => ({ task, commit, parent }))
  })
}

const FEWEST_DIGITS = 4

function prefixOf({ commit }: TaskEnd): string | null {
  return commit !== null && /^[0-9a-f]{4,64}$/i.test(commit) ? commit.toLowerCase() : null
}

async function cloneOf(git: Git): Promise<{ readonly prefix: string; readonly isShallow: boolean }> {
  const { stdout } = await git.run(['rev-parse', '--is-shallow-repository', '--show-prefix'])
  const [shallow = '', prefix = ''] = stdout.toString().split('\n')
  return { prefix, isShallow: shallow === 'true' }
}
