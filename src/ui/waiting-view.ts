import type { TaskState } from '../select/selection.ts'
import { dim, type Block, type Line } from './block.ts'
import { explain } from './reason-text.ts'

/** Why each of these tasks waits: one row a reason, the task named on its first. */
export function waitingRows(states: readonly TaskState[]): Block {
  const rows = states.flatMap((state) =>
    explain(state).map(({ why, where }, index): readonly Line[] => {
      const { id, title } = state.task
      return [[index === 0 ? id : ''], [index === 0 ? title : ''], [why], [dim(where)]]
    }),
  )
  return { kind: 'table', rows, shrink: 1, wrap: 2, fold: 3, indent: '  ' }
}
