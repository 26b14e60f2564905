import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareNumbers } from '../../src/backlog/ids.ts'
import { select } from '../../src/backlog/select/selection.ts'
import { graphRows } from '../../src/screen/graph-rows.ts'
import { buildTask } from '../task/build-task.ts'

const idOf = (number: number): string => `T-${String(number).padStart(3, '0')}`

/** The rows of a backlog in which each task needs those of its place in the list. */
function rowsOf(needs: readonly (readonly number[])[], limit: number) {
  const tasks = needs.map((numbers, at) => buildTask(idOf(at + 1), { depends: numbers.map(idOf) }))
  return graphRows(select(tasks).states, limit)
}

describe('the drawing of dependencies', () => {
  it('puts each task below all that it needs', () => {
    const rows = rowsOf([[3], [1], []], 16)
    expect(rows.map(({ state }) => state.task.id)).toEqual(['T-003', 'T-001', 'T-002'])
  })

  it('goes by number among those that have to do with each other', () => {
    const rows = rowsOf([[], [], [2], [1, 2]], 16)
    expect(rows.map(({ state }) => state.task.number)).toEqual([1, 2, 3, 4])
  })

  it('puts no task between others that it has nothing to do with', () => {
    const rows = rowsOf([[], [], [1], [2]], 16)
    expect(rows.map(({ state, before, after }) => [state.task.number, before + after])).toEqual([
      [1, ' '],
      [3, ' '],
      [2, ' '],
      [4, ' '],
    ])
  })

  it('says in words what no lane is left for', () => {
    const rows = rowsOf([[], [], [], [], [], [1, 2, 3, 4, 5]], 3)
    expect(rows.at(-1)!.unseen).toEqual(['T-004', 'T-005'])
    for (const { before } of rows) expect(before.length).toBeLessThanOrEqual(6)
  })

  it('tells a chain from tasks that have nothing to do with each other', () => {
    const needs = (rows: ReturnType<typeof rowsOf>) => rows.map(({ unseen }) => unseen)
    expect(needs(rowsOf([[], [1], [2]], 16))).toEqual([[], ['T-001'], ['T-002']])
    expect(needs(rowsOf([[], [], []], 16))).toEqual([[], [], []])
  })

  it('says in words what does not exist, and who waits for whom in a ring', () => {
    const rows = rowsOf([[9], [3], [2]], 16)
    expect(rows.map(({ state, unseen }) => [state.task.id, unseen])).toEqual([
      ['T-001', ['T-009']],
      ['T-002', ['T-003']],
      ['T-003', ['T-002']],
    ])
  })

  it('has every task once, and never more lanes than asked for', () => {
    const backlogs = fc.array(fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 4 }), { maxLength: 30 })
    fc.assert(
      fc.property(backlogs, fc.integer({ min: 1, max: 8 }), (needs, limit) => {
        const rows = rowsOf(needs, limit)
        expect(rows.map(({ state }) => state.task.number).sort(compareNumbers)).toEqual(
          needs.map((_, at) => at + 1),
        )
        for (const { before, after } of rows)
          expect(before.length + 1 + after.length).toBeLessThanOrEqual(2 * (limit + 1))
      }),
    )
  })
})
