import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Git } from '../git/git.ts'
import { readLog, revertedBy, type LogEntry, type Reverted } from '../git/log.ts'
import { gatesIn, ranGates } from '../git/record.ts'
import { ownWordsIn, trailerValue, trailerValues, type Trailer } from '../git/trailers.ts'
import type { TaskIds } from '../backlog/ids.ts'
import { TASK_VOCABULARY, type TaskVocabulary } from '../backlog/vocabulary.ts'
import { titleIn } from '../backlog/subject.ts'
import type { Usage } from '../base/nouns.ts'
import { parseCost, parseTokens, secondsIn, UNKNOWN_USAGE } from '../base/usage.ts'
import { completionsNamed, type DoneTask } from './named-commits.ts'

/** A task's completion, as its commit describes it. */
export type CompletionRecord = Readonly<ReturnType<typeof completionOf>>

/** Which completions to read. */
export interface CompletionQuery {
  /** Arguments for git log: `v1.0..HEAD`; HEAD by default. */
  readonly revisions?: readonly string[]
  readonly since?: string
  /** The vocabulary of the task files. */
  readonly vocabulary?: TaskVocabulary
  /** The template of the commits' subjects. */
  readonly subject?: string
  /** The current tasks: DONE ones that no commit claims count with the commit that their file names. */
  readonly tasks?: Promise<readonly DoneTask[]>
}

/** Every completion in history, newest first, read with a few git processes, usually one. */
export async function readCompletions(
  git: Git,
  { vocabulary = TASK_VOCABULARY, subject, tasks, ...query }: CompletionQuery = {},
): Promise<readonly CompletionRecord[]> {
  // A package may share its repository with others whose tasks have the same numbers.
  const hereOnly = !existsSync(join(git.cwd, '.git'))
  const entries = await readLog(git, { ...query, withTrailer: 'Task', reverts: true, hereOnly })
  const claims = claimsIn(entries, vocabulary.ids)
  const [undone, turned] = await Promise.all([undoneBy(git, entries), turnedBy(git, claims, vocabulary)])
  const claimed = claims.flatMap((claim) => {
    const id = claim.isCertain ? claim.id : turned.get(claim)
    return id === undefined ? [] : [completionOf({ ...claim, id }, undone, subject)]
  })
  const known = new Set(
    claimed.flatMap(({ id, reverted }) => (reverted ? [] : [vocabulary.ids.numberOf(id)])),
  )
  const open = ((await tasks) ?? []).filter(({ number }) => !known.has(number))
  const named = await completionsNamed(git, open, query)
  const more = named.map((one) => completionNamed(one, undone))
  return more.length === 0 ? claimed : [...claimed, ...more].toSorted((a, b) => b.committedAt - a.committedAt)
}

/** A completion that only the task's file names. */
function completionNamed(
  { task, entry, isShared }: Awaited<ReturnType<typeof completionsNamed>>[number],
  undone: Undone,
): CompletionRecord {
  return {
    ...completionOf({ id: task.id, entry, isCertain: false }, undone),
    title: task.title,
    // The message of a commit that completed several tasks does not belong to each of them.
    notes: isShared ? '' : entry.body,
    seconds: secondsIn(/\(([^()]*?)(?: duration)?\)\s*$/.exec(task.completed ?? '')?.[1] ?? null),
    usage: { ...UNKNOWN_USAGE, costUsd: parseCost(task.cost) },
  }
}

/** A commit that names a task in a trailer. */
interface Claim {
  readonly id: string
  readonly entry: LogEntry
  /** Whether it also has the numbers of a completion. Otherwise it may be any commit for the task. */
  readonly isCertain: boolean
}

/** The tasks that commits claim to complete, in their order; those of a squash are newest first too. */
export function claimsIn(entries: readonly LogEntry[], ids: TaskIds): readonly Claim[] {
  return entries.flatMap((commit) => {
    const squashed = squashedIn(commit)
    return (squashed.length > 0 ? squashed.toReversed() : [commit]).flatMap((entry) => {
      const id = completedBy(entry, ids)
      return id === null ? [] : [{ id, entry, isCertain: hasNumbers(entry.trailers) }]
    })
  })
}

/** The completed task; null for commits that block or retry a task or keep an attempt, which have other trailers too. */
function completedBy({ trailers }: LogEntry, ids: TaskIds): string | null {
  const isOther = trailers.some(({ key }) => OTHERS.has(key.toLowerCase()))
  const id = trailerValue(trailers, 'Task')
  return isOther || id === null || !ids.regex('^<id>$').test(id) ? null : id
}

const OTHERS: ReadonlySet<string> = new Set(['blocked', 'retried', 'outcome'])

/** Of the uncertain claims, those whose commit turned the task's file DONE, with the id in that file. */
async function turnedBy(
  git: Git,
  claims: readonly Claim[],
  vocabulary: TaskVocabulary,
): Promise<ReadonlyMap<Claim, string>> {
  const open = claims.filter(({ isCertain }) => !isCertain)
  if (open.length === 0) return new Map()
  const { pathsTurned } = await import('./task-versions.ts')
  const named = open.map((claim) => ({ claim, id: claim.id, commit: claim.entry.hash }))
  const turned = await pathsTurned(git, named, vocabulary)
  return new Map(turned.map(({ claim, path }) => [claim, vocabulary.ids.inPath(path)]))
}

function completionOf({ id, entry, isCertain }: Claim, undone: Undone, template?: string) {
  const { trailers } = entry
  const value = (key: string): string | null => trailerValue(trailers, key)
  const usage: Usage = {
    turns: numberOf(value('Turns')),
    ...parseTokens(value('Tokens')),
    costUsd: parseCost(value('Cost')),
  }
  return {
    id,
    /** The title in the commit's subject, without the id and the rest of the template. */
    title: titleIn(entry.subject, id, template),
    commit: entry.hash,
    /** Whether ralph made the commit; if not, the commit or the task's file says what it completed. */
    byRalph: isCertain,
    author: entry.authorName,
    /** Seconds since 1970. */
    committedAt: entry.committedAt,
    /** The completion notes, in Markdown. */
    notes: ownWordsIn(entry.body),
    agent: value('Agent'),
    model: value('Model'),
    tier: value('Tier'),
    attempts: numberOf(value('Attempts')),
    seconds: secondsIn(value('Duration')),
    usage,
    /** The gates that passed on it: empty if there were none, null if the commit does not say. */
    gates: gatesIn(value('Gates')),
    ran: ranGates(value('Gates')) ?? [],
    flaky: trailerValues(trailers, 'Flaky'),
    gatesChanged: trailerValues(trailers, 'Gates-Changed'),
    /** Whether a later commit undid it. */
    reverted: undone.has(entry.hash),
  }
}

function numberOf(text: string | null): number | null {
  return text !== null && /^\d+$/.test(text) ? Number(text) : null
}

/**
 * The completions in the message of a squashed commit; none for other commits. Each begins with its subject, as a
 * forge lists it (`* T-004: Add it`) or as `git merge --squash` does (indented, below a head), and ends with its
 * trailers, of which git recognises at most the last.
 */
function squashedIn(entry: LogEntry): readonly LogEntry[] {
  const own = trailerValue(entry.trailers, 'Task')
  // A completion has its task in its subject. Text quoted in its notes is no completion.
  if (own !== null && entry.subject.includes(own)) return []
  const parts: LogEntry[] = []
  let paragraphs: string[] = []
  for (const paragraph of paragraphsOf(entry)) {
    const trailers = completionTrailers(paragraph)
    if (trailers) {
      const id = trailerValue(trailers, 'Task') ?? ''
      parts.push({ ...entry, ...wordsOf(paragraphs, id), trailers })
      paragraphs = []
    } else paragraphs.push(paragraph)
  }
  return parts
}

function paragraphsOf({ body, trailers }: LogEntry): readonly string[] {
  const last = trailers.map(({ key, value }) => `${key}: ${value}`).join('\n')
  return [...body.split(/\n[ \t]*\n/), last].map((text) => text.replaceAll(/^ {4}/gm, '').trim())
}

/** Only ralph's own trailers: each line of the paragraph has one of its keys. */
function completionTrailers(paragraph: string): readonly Trailer[] | null {
  const trailers: Trailer[] = []
  for (const line of paragraph.split('\n')) {
    const [, key, value] = /^([A-Za-z][A-Za-z0-9-]*): (.*)$/.exec(line) ?? []
    if (key === undefined || value === undefined) return null
    trailers.push({ key, value: value.trim() })
  }
  return trailerValue(trailers, 'Task') !== null && hasNumbers(trailers) ? trailers : null
}

/** Whether it has the trailers that every completion has, and nothing else has. */
function hasNumbers(trailers: readonly Trailer[]): boolean {
  return trailerValue(trailers, 'Tier') !== null && trailerValue(trailers, 'Attempts') !== null
}

/** The text above the trailers: perhaps git's head, then a line that names the task, then notes. */
function wordsOf(paragraphs: readonly string[], id: string): Pick<LogEntry, 'subject' | 'body'> {
  const at = paragraphs.findIndex((text) => text.includes(id) && !text.includes('\n'))
  const subject = at < 0 ? id : (paragraphs[at] ?? id).replace(/^\* /, '')
  return {
    subject,
    body: paragraphs
      .slice(at + 1)
      .filter(Boolean)
      .join('\n\n'),
  }
}

/** Which commits of a history are undone. */
export interface Undone {
  has(commit: string): boolean
}

/** Finds the commits that reverts among these undo. A revert that is itself undone does not count. */
export async function undoneBy(git: Git, entries: readonly LogEntry[]): Promise<Undone> {
  const reverts = entries.flatMap((entry) => revertedBy(entry).map((target) => ({ by: entry.hash, target })))
  const brought = await broughtByMerges(
    git,
    reverts.map(({ target }) => target),
  )
  const undoers = new Map<string, string[]>()
  for (const { by, target } of reverts) {
    for (const commit of brought.get(target) ?? [target.commit])
      undoers.set(commit, [...(undoers.get(commit) ?? []), by])
  }
  // git writes whole hashes, people may write short ones.
  const short = [...undoers].filter(([commit]) => commit.length < (entries[0]?.hash.length ?? 0))
  const known = new Map<string, boolean>()
  return { has }

  function has(commit: string): boolean {
    const answer = known.get(commit)
    if (answer !== undefined) return answer
    // Set first: commits may name each other, and the search must end.
    known.set(commit, false)
    const abbreviated = short.flatMap(([start, by]) => (commit.startsWith(start) ? by : []))
    const isUndone = [...(undoers.get(commit) ?? []), ...abbreviated].some((by) => !has(by))
    known.set(commit, isUndone)
    return isUndone
  }
}

/** For each reverted merge, itself and the commits that it brought; one process if there is a merge. */
async function broughtByMerges(
  git: Git,
  reverted: readonly Reverted[],
): Promise<ReadonlyMap<Reverted, readonly string[]>> {
  const merges = reverted.filter(({ onto }) => onto !== null)
  if (merges.length === 0) return new Map()
  const { stdout } = await git.run(['rev-list', '--parents', 'HEAD'])
  const lines = stdout.toString('latin1').trimEnd().split('\n')
  const parents = new Map(
    lines.map((line) => line.split(' ')).map(([commit = '', ...rest]) => [commit, rest]),
  )
  return new Map(
    merges.map((merge) => {
      const kept = ancestry(merge.onto ?? '', parents)
      return [merge, [...ancestry(merge.commit, parents)].filter((commit) => !kept.has(commit))]
    }),
  )
}

/** A commit and all its ancestors. */
function ancestry(commit: string, parents: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const found = new Set([commit])
  // Iterating over a set also visits the members added meanwhile.
  for (const one of found) for (const parent of parents.get(one) ?? []) found.add(parent)
  return found
}
