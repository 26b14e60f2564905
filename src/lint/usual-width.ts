import type { TaskName } from '../task/model.ts'
import { idOf } from '../task/values.ts'

/** The number of digits that most ids are padded to; null where as many speak for another. */
export function usualWidth(tasks: readonly TaskName[]): number | null {
  const widths = new Set(tasks.map((task) => task.id.length - 'T-'.length))
  const counts = [...widths].map((width) => ({
    width,
    count: tasks.filter((task) => task.id === idOf(task.number, width)).length,
  }))
  const most = Math.max(...counts.map(({ count }) => count))
  const usual = counts.filter(({ count }) => count === most)
  return usual.length === 1 ? usual[0]!.width : null
}
