import { formatDuration, minuteText } from '../base/time.ts'
import { tellingLines } from '../base/failure-lines.ts'
import type { KeptAttempt } from '../git/record.ts'
import { formatCost } from '../base/usage.ts'
import type { Task } from '../backlog/model.ts'
import { BLANK, dim, good, line, paragraph, strong, type Block } from './block.ts'
import { counted } from '../base/text.ts'
import { titleLine } from './task-lines.ts'

/** The attempts at a task: how each ended, its usage, and where it is kept. */
export function attemptsView(task: Task, attempts: readonly KeptAttempt[]): readonly Block[] {
  if (attempts.length === 0) return [titleLine(task), line('       no attempt is kept')]
  return [titleLine(task), ...attemptList(attempts)]
}

/** The attempts alone, each below an empty line. */
export function attemptList(attempts: readonly KeptAttempt[]): readonly Block[] {
  return attempts.flatMap(attemptBlocks)
}

const MOST_LINES = 6

function attemptBlocks(record: KeptAttempt): readonly Block[] {
  const { number, outcome, reason, detail, changed, caged, ref, keptAt } = record
  const sign = outcome === 'done' ? [good(outcome)] : [strong(outcome)]
  return [
    BLANK,
    {
      kind: 'spread',
      left: [`  ${number}  `, ...sign, dim(`  ${spent(record)}`)],
      right: [dim(minuteText(new Date(keptAt * 1000)))],
    },
    paragraph(['     '], reason),
    ...tellingLines(detail, MOST_LINES).map((text) => line(dim(`       ${text}`))),
    ...(caged.length > 0 ? [paragraph(['     ', dim('the sandbox refused '), ' '], caged.join(', '))] : []),
    ...(changed.length > 0 ? [paragraph(['     ', dim('changed '), ' '], changed.join(', '))] : []),
    line('     ', dim(`git show ${ref}`)),
  ]
}

function spent({ agent, usage, seconds }: KeptAttempt): string {
  const parts = [
    agent,
    ...(usage.turns === null ? [] : [counted(usage.turns, 'turn')]),
    formatDuration(seconds),
    ...(usage.costUsd === null ? [] : [formatCost(usage.costUsd)]),
  ]
  return parts.join(' · ')
}
