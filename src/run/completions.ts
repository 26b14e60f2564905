import type { Usage } from '../agent/port.ts'
import type { Git } from '../git/git.ts'
import { readLog, revertedBy } from '../git/history.ts'
import type { LogEntry } from '../git/history.ts'
import { trailerValue, trailerValues } from '../git/trailers.ts'
import { squashedIn } from './squashed.ts'
import { parseCost, parseTokens, secondsIn } from './usage.ts'

/** A task's completion, as its commit tells it. */
export interface CompletionRecord {
  readonly id: string
  /** The subject without the id that it begins with. */
  readonly title: string
  readonly commit: string
  readonly author: string
  /** Seconds since 1970. */
  readonly committedAt: number
  /** The completion notes, in Markdown. */
  readonly notes: string
  readonly agent: string | null
  readonly model: string | null
  readonly tier: string | null
  readonly attempts: number | null
  readonly seconds: number | null
  readonly usage: Usage
  readonly gatesChanged: readonly string[]
  /** Whether a later commit has undone it. */
  readonly reverted: boolean
}

/** Which completions to read. */
export interface CompletionQuery {
  /** What git log takes: `v1.0..HEAD`; HEAD by default. */
  readonly revisions?: readonly string[]
  readonly since?: string
  readonly signal?: AbortSignal
}

/** Every completion in history, newest first, in one git process. */
export async function readCompletions(
  git: Git,
  query: CompletionQuery = {},
): Promise<readonly CompletionRecord[]> {
  return completionsIn(await readLog(git, { ...query, withTrailer: 'Task', andReverts: true }))
}

/** The completions among commits that are given newest first. */
export function completionsIn(entries: readonly LogEntry[]): readonly CompletionRecord[] {
  return completingEntries(entries).map(completionOf)
}

/** A commit that says that it completed a task. */
export interface CompletingEntry {
  readonly id: string
  readonly entry: LogEntry
  /** Whether a later commit has undone it. */
  readonly reverted: boolean
}

/** Those among commits that are given newest first, without what else they tell. */
export function completingEntries(entries: readonly LogEntry[]): readonly CompletingEntry[] {
  const undone = undoneCommits(entries)
  return entries.flatMap((commit) => {
    const squashed = squashedIn(commit)
    return (squashed.length > 0 ? squashed.toReversed() : [commit]).flatMap((entry) => {
      const id = completedBy(entry)
      return id === null ? [] : [{ id, entry, reverted: undone.has(commit.hash) }]
    })
  })
}

/** A commit that blocks a task, takes that back, or keeps an attempt has the trailer too, and says what it is. */
function completedBy({ trailers }: LogEntry): string | null {
  const isOther = trailers.some(({ key }) => OTHERS.has(key.toLowerCase()))
  return isOther ? null : trailerValue(trailers, 'Task')
}

const OTHERS: ReadonlySet<string> = new Set(['blocked', 'retried', 'outcome'])

/** From the oldest on: what undoes an undoing brings the first back. */
function undoneCommits(entries: readonly LogEntry[]): ReadonlySet<string> {
  const byAge = entries.toReversed()
  const undone = new Set<string>()
  const undoes = new Map<string, readonly string[]>()
  for (const entry of byAge) {
    const targets = revertedBy(entry).flatMap(
      (prefix) => byAge.find(({ hash }) => hash.startsWith(prefix))?.hash ?? [],
    )
    undoes.set(entry.hash, targets)
    for (const target of targets) flip(target, true)
  }
  return undone

  function flip(hash: string, isUndone: boolean): void {
    if (isUndone) undone.add(hash)
    else undone.delete(hash)
    for (const target of undoes.get(hash) ?? []) flip(target, !isUndone)
  }
}

function completionOf({ id, entry, reverted }: CompletingEntry): CompletionRecord {
  const value = (key: string): string | null => trailerValue(entry.trailers, key)
  const { subject } = entry
  return {
    id,
    title: subject.startsWith(`${id}: `) ? subject.slice(id.length + 2) : subject,
    commit: entry.hash,
    author: entry.authorName,
    committedAt: entry.committedAt,
    notes: entry.body,
    agent: value('Agent'),
    model: value('Model'),
    tier: value('Tier'),
    attempts: numberOf(value('Attempts')),
    seconds: secondsIn(value('Duration')),
    usage: {
      turns: numberOf(value('Turns')),
      ...parseTokens(value('Tokens')),
      costUsd: parseCost(value('Cost')),
    },
    gatesChanged: trailerValues(entry.trailers, 'Gates-Changed'),
    reverted,
  }
}

function numberOf(text: string | null): number | null {
  return text !== null && /^\d+$/.test(text) ? Number(text) : null
}
