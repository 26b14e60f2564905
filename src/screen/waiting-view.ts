import { dim, table, type Block, type Cell } from './block.ts'
import type { Explanation } from './reason-text.ts'

/** A task that waits, and why. */
export interface WaitingTask {
  readonly id: string
  readonly title: string
  readonly reasons: readonly Explanation[]
}

/** Why each of these tasks waits: one row for each reason, with the task's name on the first. */
export function waitingRows(tasks: readonly WaitingTask[]): Block {
  const rows = tasks.flatMap(({ id, title, reasons }) =>
    reasons.map(({ why, where }, index): readonly Cell[] => {
      return [index === 0 ? id : '', index === 0 ? title : '', [why, '  ', dim(where)]]
    }),
  )
  return table(rows, { shrink: [1], wrap: 2 })
}
