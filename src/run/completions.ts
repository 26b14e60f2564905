import type { Usage } from '../agent/port.ts'
import { parseDuration } from '../base/duration.ts'
import type { Git } from '../git/git.ts'
import { readLog, revertedBy } from '../git/history.ts'
import type { LogEntry } from '../git/history.ts'
import { trailerValue, trailerValues } from '../git/trailers.ts'
import { parseCost, parseTokens } from './usage.ts'

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
  const undone = undoneCommits(entries)
  return entries.filter(isCompletion).map((entry) => completionOf(entry, undone.has(entry.hash)))
}

/** A commit that blocks a task, takes that back, or keeps an attempt has the trailer too, and says what it is. */
function isCompletion({ trailers }: LogEntry): boolean {
  const has = (key: string): boolean => trailerValue(trailers, key) !== null
  return has('Task') && !has('Blocked') && !has('Retried') && !has('Outcome')
}

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

function completionOf(entry: LogEntry, reverted: boolean): CompletionRecord {
  const value = (key: string): string | null => trailerValue(entry.trailers, key)
  const id = value('Task') ?? ''
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
    seconds: parseDuration(value('Duration') ?? '') ?? null,
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
