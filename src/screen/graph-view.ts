import type { TaskState } from '../backlog/select/selection.ts'
import { type DrawnTask, graphRows } from './graph-rows.ts'
import { dim, line, table, BLANK, type Block, type Cell } from './block.ts'
import { signOf } from './task-lines.ts'

/** More lanes would leave no room for titles; the other needs are listed in words. */
const MOST_LANES = 16
const LEAST_LANES = 4
const TITLE_COLUMNS = 44

/** The dependencies drawn for a terminal of that width; null for a pipe. */
export function graphView(states: readonly TaskState<DrawnTask>[], columns: number | null): readonly Block[] {
  const limit = Math.max(
    LEAST_LANES,
    Math.min(MOST_LANES, Math.floor(((columns ?? 100) - TITLE_COLUMNS) / 2)),
  )
  const rows = graphRows(states, limit).map(({ state, before, after, unseen }): readonly Cell[] => {
    const { task } = state
    const isDone = task.status === 'DONE'
    const needs = unseen.length > 0 ? dim(`← ${unseen.join(', ')}`) : ''
    return [[dim(before), signOf(state), dim(after)], task.id, isDone ? dim(task.title) : task.title, needs]
  })
  return [
    table(rows, { shrink: [2], indent: '' }),
    BLANK,
    line(dim('✓ done  ▸ eligible  · waits  ■ blocked  ? unclear')),
    ...(rows.length > MOST_ROWS ? [line(dim(LESS))] : []),
  ]
}

/** In a drawing longer than a screen, the start of a lane is not visible. */
const MOST_ROWS = 30
const LESS =
  'Less of it: ralph graph --todo leaves out what is done, ralph graph T-004 shows the part of one task.'
