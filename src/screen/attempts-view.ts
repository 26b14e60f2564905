import { minuteText } from '../base/time.ts'
import { tellingLines } from '../base/failure-lines.ts'
import type { KeptAttempt } from '../git/record.ts'
import type { Task } from '../backlog/model.ts'
import { strong, dim, good, line, paragraph, spread, BLANK, type Block } from './block.ts'
import { titleLine } from './task-lines.ts'
import { spentText } from './told.ts'

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
  const { number, outcome, reason, detail, changed, caged, ref, keptAt, agent, usage, seconds } = record
  const how = outcome === 'done' ? good(outcome) : strong(outcome)
  const spent = dim(`  ${agent} · ${spentText(seconds, usage)}`)
  const more = (name: string, items: readonly string[]): readonly Block[] =>
    items.length === 0 ? [] : [paragraph(['     ', dim(`${name} `), ' '], items.join(', '))]
  return [
    BLANK,
    spread([`  ${number}  `, how, spent], [dim(minuteText(new Date(keptAt * 1000)))]),
    paragraph(['     '], reason),
    ...tellingLines(detail, MOST_LINES).map((text) => line(dim(`       ${text}`))),
    ...more('the sandbox refused', caged),
    ...more('changed', changed),
    line('     ', dim(`git show ${ref}`)),
  ]
}
