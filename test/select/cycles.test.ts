import { describe, expect, test } from 'vitest'
import { findCycles } from '../../src/backlog/select/cycles.ts'
import { select } from '../../src/backlog/select/selection.ts'
import { buildTask } from '../task/build-task.ts'

/** The cycles among tasks that are given as number → needs. */
function cyclesAmong(needs: Readonly<Record<number, readonly number[]>>): string[] {
  const tasks = Object.entries(needs).map(([number, depends]) =>
    buildTask(`T-${number}`, { depends: depends.map((needed) => `T-${needed}`) }),
  )
  return select(tasks).cycles.map((cycle) => cycle.ids.join(' '))
}

describe('cycles', () => {
  test('are read from the lowest number on, in the direction of the needs', () => {
    expect(cyclesAmong({ 10: [9], 9: [2], 2: [10] })).toEqual(['T-2 T-10 T-9'])
  })

  test('are not looked for where each task needs only lower ones, as in most backlogs', () => {
    const looked = new Map<string, number>()
    const watched = ['T-1', 'T-2', 'T-3'].map((id, index) => {
      const task = buildTask(id, { depends: index === 0 ? [] : [`T-${index}`] })
      const { needs } = task
      const count = (): void => void looked.set(id, (looked.get(id) ?? 0) + 1)
      return Object.defineProperty({ ...task }, 'needs', { get: () => (count(), needs) })
    })
    expect(findCycles(watched)).toEqual([])
    expect([...looked.values()]).toEqual([1, 1, 1])
  })

  test('are found at the ends of ten thousand tasks, and through one with as many needs', () => {
    const count = 10_000
    const all = Array.from({ length: count }, (_, index) => index + 1)
    const ring = Object.fromEntries(all.map((number) => [number, [(number % count) + 1]]))
    const star = { ...Object.fromEntries(all.map((number) => [number, [count + 1]])), [count + 1]: all }
    expect(cyclesAmong(ring).map((ids) => ids.split(' ').length)).toEqual([count])
    expect(cyclesAmong(star).map((ids) => ids.split(' ').length)).toEqual([count + 1])
  })
})
