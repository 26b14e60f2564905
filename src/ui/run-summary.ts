import { formatDuration } from '../base/time.ts'
import type { RunFinished, TaskBlocked, TaskCompleted, TaskGivenUp } from '../events/event.ts'
import { formatCost } from '../events/usage.ts'
import { bad, BLANK, dim, good, line, paragraph, type Block, type Cell } from './block.ts'

/** How one task of the run ended. */
export type TaskEndEvent = TaskCompleted | TaskBlocked | TaskGivenUp

/** What a run came to: how much, each task in a row, and what a person can do now. */
export function summaryOf(finished: RunFinished, ends: readonly TaskEndEvent[]): readonly Block[] {
  return [
    BLANK,
    line(totals(finished)),
    ...(ends.length > 0 ? [{ kind: 'table', rows: ends.map(rowOf), wrap: 4, indent: '  ' } as const] : []),
    ...closing(finished, ends),
  ]
}

function totals({ completed, blocked, failed, waiting, seconds, cost }: RunFinished): string {
  const parts = [
    `${completed.length} done`,
    ...(blocked.length > 0 ? [`${blocked.length} blocked`] : []),
    ...(failed.length > 0 ? [`${failed.length} left`] : []),
    // What waits may wait for those.
    ...(blocked.length > 0 && waiting > 0 ? [`${waiting} ${waiting === 1 ? 'waits' : 'wait'}`] : []),
    formatDuration(seconds),
    ...(cost === null ? [] : [formatCost(cost)]),
  ]
  return parts.join(' · ')
}

function rowOf(end: TaskEndEvent): readonly Cell[] {
  switch (end.type) {
    case 'task-completed':
      return [
        end.id,
        good(end.commit.slice(0, 7)),
        formatDuration(end.duration),
        end.cost === null ? '' : formatCost(end.cost),
        end.title,
      ]
    case 'task-blocked':
      return [end.id, bad('blocked'), '', '', end.reason]
    case 'task-given-up':
      return [end.id, 'left', '', '', end.reason]
  }
}

function closing(
  { end, reason, completed, blocked, failed }: RunFinished,
  ends: readonly TaskEndEvent[],
): readonly Block[] {
  return [
    ...((end === 'done' && completed.length > 0) || reason === ''
      ? []
      : [paragraph([], `${reason[0]?.toUpperCase()}${reason.slice(1)}.`.replace(/\.\.$/, '.'))]),
    ...nextStep(blocked, failed, ends),
  ]
}

/** What a person can do about the first task that is not done: to answer is the least. */
function nextStep(
  blocked: readonly string[],
  failed: readonly string[],
  ends: readonly TaskEndEvent[],
): readonly Block[] {
  const question = ends.find((end) => end.type === 'task-blocked' && end.asks)
  if (question) return [line(dim(`Next: ralph answer ${question.id} "…"`))]
  const [first] = [...blocked, ...failed]
  const retry = blocked.length > 0 ? `, then ralph retry ${blocked[0]}` : ''
  return first === undefined ? [] : [line(dim(`Next: ralph attempts ${first}${retry}`))]
}
