import { formatDuration } from '../base/time.ts'
import type { RunFinished, TaskBlocked, TaskCompleted, TaskGivenUp } from '../engine/events/event.ts'
import { formatCost } from '../base/usage.ts'
import { dim, good, bad, line, paragraph, table, BLANK, type View, type Cell } from './block.ts'
import { endCounts, spentText } from './tell.ts'

/** The event that ended one task of the run. */
export type TaskEndEvent = TaskCompleted | TaskBlocked | TaskGivenUp

/** A kept attempt that an interruption ended. */
export interface Interrupted {
  readonly id: string
  readonly attempt: number
}

/** The result of a run: the totals, a row for each task, and what a person can do now. */
export function summaryOf(
  finished: RunFinished,
  ends: readonly TaskEndEvent[],
  run: { readonly isLoop: boolean; readonly interrupted: Interrupted | null },
): View {
  return [
    BLANK,
    line(totals(finished)),
    ...table(ends.map(rowOf), { wrap: 4 }),
    ...closing(finished, ends),
    ...(finished.end === 'interrupted' ? goingOn(run) : nextStep(finished, ends)),
  ]
}

function totals(finished: RunFinished): string {
  const { blocked, waiting, seconds, cost } = finished
  return [
    ...endCounts(finished),
    // Waiting tasks may wait for the blocked ones.
    blocked.length > 0 && waiting > 0 && `${waiting} ${waiting === 1 ? 'waits' : 'wait'}`,
    spentText(seconds, { turns: null, costUsd: cost }),
  ]
    .filter(Boolean)
    .join(' · ')
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

function closing({ end, reason, completed }: RunFinished, ends: readonly TaskEndEvent[]): View {
  if ((end === 'done' && completed.length > 0) || reason === '' || isTold(reason, ends)) return []
  return [paragraph([], `${reason[0]?.toUpperCase()}${reason.slice(1)}.`.replace(/\.\.$/, '.'))]
}

/** What to do about the first task that is not done; an answer is the least work. */
function nextStep({ blocked, failed }: RunFinished, ends: readonly TaskEndEvent[]): View {
  const question = ends.find((end) => end.type === 'task-blocked' && end.asks)
  if (question) return [line(dim(`Next: ralph answer ${question.id} "…"`))]
  const [first] = [...blocked, ...failed]
  const retry = blocked.length > 0 ? `, then ralph retry ${blocked[0]}` : ''
  return first === undefined ? [] : [line(dim(`Next: ralph attempts ${first}${retry}`))]
}

/** Whether the reason is in a task's row already, because a task ended the run. */
function isTold(reason: string, ends: readonly TaskEndEvent[]): boolean {
  return ends.some((end) => end.type !== 'task-completed' && reason === `${end.id}: ${end.reason}`)
}

/** What an interruption has kept, and how to continue. */
function goingOn({
  isLoop,
  interrupted,
}: {
  readonly isLoop: boolean
  readonly interrupted: Interrupted | null
}): View {
  const again = `To go on: ralph run${isLoop ? ' --loop' : ''}`
  return [
    ...(interrupted
      ? [
          line(
            `Attempt ${interrupted.attempt} at ${interrupted.id} is kept: ralph attempts ${interrupted.id}`,
          ),
        ]
      : []),
    line(dim(again)),
  ]
}
