import { describe, expect, it } from 'vitest'
import { select } from '../../src/backlog/select/selection.ts'
import { graphPart, type GraphPart } from '../../src/screen/graph-text.ts'
import { buildTask } from '../task/build-task.ts'

/** T-001 to T-004 in a row, T-005 beside them, T-006 needs both and one that does not exist; T-007 and T-008 wait for each other. */
const { states } = select([
  buildTask('T-001', { status: 'DONE' }),
  buildTask('T-002', { status: 'DONE', depends: ['T-001'] }),
  buildTask('T-003', { depends: ['T-002'] }),
  buildTask('T-004', { depends: ['T-003'] }),
  buildTask('T-005'),
  buildTask('T-006', { depends: ['T-004', 'T-005', 'T-099'] }),
  buildTask('T-007', { depends: ['T-008'] }),
  buildTask('T-008', { depends: ['T-007'] }),
])

function part(asked: Partial<GraphPart>): readonly string[] {
  return graphPart(states, { around: null, todo: false, ...asked }).map(
    ({ task }) => `${task.id}: ${task.depends.map(({ id }) => id).join(' ')}`,
  )
}

describe('a part of the graph', () => {
  it('is all of it where nothing is left out', () => {
    expect(part({})).toHaveLength(8)
    expect(part({})).toContain('T-006: T-004 T-005 T-099')
  })

  it('is what one task needs and what needs it, all the way, and nothing beside that', () => {
    expect(part({ around: 3 })).toEqual([
      'T-001: ',
      'T-002: T-001',
      'T-003: T-002',
      'T-004: T-003',
      'T-006: T-004 T-099',
    ])
    expect(part({ around: 7 })).toEqual(['T-007: T-008', 'T-008: T-007'])
  })

  it('leaves out what is done, and that somebody needs it', () => {
    expect(part({ around: 3, todo: true })).toEqual(['T-003: ', 'T-004: T-003', 'T-006: T-004 T-099'])
  })
})
