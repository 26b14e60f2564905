import { describe, expect, test } from 'vitest'
import { select, unblocks } from '../../src/backlog/select/selection.ts'
import type { Task } from '../../src/backlog/model.ts'
import { buildTask } from '../task/build-task.ts'

const ids = (tasks: readonly Task[]): string[] => tasks.map((task) => task.id)
const waitingOf = (tasks: readonly Task[], id: string) =>
  select(tasks).states.find(({ task }) => task.id === id)?.waiting

describe('the next task', () => {
  test('is the lowest number, compared as a number', () => {
    const selection = select(['T-1000', 'T-10', 'T-9'].map((id) => buildTask(id)))
    expect(selection.next?.id).toBe('T-9')
    expect(ids(selection.eligible)).toEqual(['T-9', 'T-10', 'T-1000'])
    expect(selection.outcome).toBe('ready')
  })

  test('is none where all are done, none are there, or the rest is stuck', () => {
    const done = buildTask('T-001', { status: 'DONE' })
    const outcomeOf = (tasks: readonly Task[]) => [select(tasks).next, select(tasks).outcome]
    expect(outcomeOf([done])).toEqual([null, 'all-done'])
    expect(outcomeOf([])).toEqual([null, 'empty'])
    expect(outcomeOf([done, buildTask('T-002', { status: 'BLOCKED' })])).toEqual([null, 'stuck'])
    expect(outcomeOf([done, buildTask('T-002', { status: null })])).toEqual([null, 'stuck'])
    expect(outcomeOf([buildTask('T-002', { depends: ['T-9'] })])).toEqual([null, 'stuck'])
  })

  test('does not depend on the order in which the files were read', () => {
    const tasks = [
      buildTask('T-1', { file: 'docs/tasks/T-1-b.md' }),
      buildTask('T-1', { file: 'docs/tasks/T-1-a.md' }),
      buildTask('T-2'),
    ]
    expect(select(tasks)).toEqual(select(tasks.toReversed()))
  })
})

describe('a task waits', () => {
  test('for a dependency that is not DONE, with the status it has', () => {
    const tasks = [
      buildTask('T-001', { status: 'BLOCKED' }),
      buildTask('T-002', { status: null }),
      buildTask('T-003', { depends: ['T-002', 'T-001'] }),
    ]
    expect(waitingOf(tasks, 'T-003')).toEqual([
      { kind: 'dependency', id: 'T-002', status: null },
      { kind: 'dependency', id: 'T-001', status: 'BLOCKED' },
    ])
  })

  test('for a task that does not exist', () => {
    expect(waitingOf([buildTask('T-001', { depends: ['T-999'] })], 'T-001')).toEqual([
      { kind: 'missing', id: 'T-999' },
    ])
  })

  test('because of its Blocked section', () => {
    expect(waitingOf([buildTask('T-001', { sections: { Blocked: 'No key.' } })], 'T-001')).toEqual([
      { kind: 'blocked-section' },
    ])
  })

  test('because of each of its problems, at its line', () => {
    const message = 'Status is "Later"'
    const problem = {
      kind: 'bad-status',
      field: 'Status',
      message,
      span: { start: 24, end: 29 },
      line: 3,
    } as const
    expect(waitingOf([buildTask('T-001', { status: null, problems: [problem] })], 'T-001')).toEqual([
      { kind: 'invalid', field: 'Status', line: 3, message },
    ])
  })

  test('for a dependency that says DONE and something else as well', () => {
    const message = 'Status is given twice'
    const span = { start: 0, end: 0 }
    const problems = [{ kind: 'field-conflict', field: 'Status', message, span, line: 3 }] as const
    const tasks = [buildTask('T-001', { status: null, problems }), buildTask('T-002', { depends: ['T-001'] })]
    expect(waitingOf(tasks, 'T-001')).toEqual([{ kind: 'invalid', field: 'Status', line: 3, message }])
    expect(waitingOf(tasks, 'T-002')).toEqual([{ kind: 'dependency', id: 'T-001', status: null }])
    expect(select(tasks).counts.DONE).toBe(0)
  })

  test('because another file has its number, however it is padded', () => {
    const tasks = [buildTask('T-1'), buildTask('T-001', { status: 'DONE' })]
    const files = ['docs/tasks/T-001.md', 'docs/tasks/T-1.md']
    expect(waitingOf(tasks, 'T-1')).toEqual([{ kind: 'duplicate', files }])
  })

  test('for a number with two files until both are DONE', () => {
    const waiting = buildTask('T-002', { depends: ['T-001'] })
    const done = [buildTask('T-001', { status: 'DONE' })]
    expect(waitingOf([...done, buildTask('T-1'), waiting], 'T-002')).toEqual([
      { kind: 'dependency', id: 'T-1', status: 'TODO' },
    ])
    expect(waitingOf([...done, buildTask('T-1', { status: 'DONE' }), waiting], 'T-002')).toEqual([])
  })

  test('in a cycle, which says so once for all its members and not for those that wait for it', () => {
    const tasks = [
      buildTask('T-001', { depends: ['T-003'] }),
      buildTask('T-002', { depends: ['T-001'] }),
      buildTask('T-003', { depends: ['T-002'] }),
      buildTask('T-004', { depends: ['T-003'] }),
    ]
    const reason = { kind: 'cycle', ids: ['T-001', 'T-003', 'T-002'] }
    for (const id of reason.ids) expect(waitingOf(tasks, id)).toEqual([reason])
    expect(waitingOf(tasks, 'T-004')).toEqual([{ kind: 'dependency', id: 'T-003', status: 'TODO' }])
  })

  test('even where a cycle holds a task that is DONE, for what it means is not clear', () => {
    const tasks = [
      buildTask('T-001', { status: 'DONE', depends: ['T-002'] }),
      buildTask('T-002', { depends: ['T-001'] }),
    ]
    expect(waitingOf(tasks, 'T-002')).toEqual([{ kind: 'cycle', ids: ['T-001', 'T-002'] }])
  })

  test('for nothing when it is DONE or BLOCKED', () => {
    const tasks = [
      buildTask('T-001', { status: 'DONE', depends: ['T-9'] }),
      buildTask('T-002', { status: 'BLOCKED', sections: { Blocked: 'No key.' } }),
    ]
    for (const { eligible, waiting } of select(tasks).states) {
      expect({ eligible, waiting }).toEqual({ eligible: false, waiting: [] })
    }
  })
})

describe('the counts', () => {
  test('leave out a task without a readable Status', () => {
    const statuses = ['TODO', 'DONE', 'DONE', 'BLOCKED', null] as const
    const tasks = statuses.map((status, index) => buildTask(`T-${index}`, { status }))
    expect(select(tasks).counts).toEqual({ TODO: 1, DONE: 2, BLOCKED: 1 })
  })
})

describe('what a task unblocks', () => {
  test('is nothing for a task that is done, not there, or one of two with its number', () => {
    const selection = select([
      buildTask('T-001'),
      buildTask('T-1', { status: 'DONE' }),
      buildTask('T-002', { status: 'DONE' }),
      buildTask('T-003', { depends: ['T-001', 'T-002'] }),
    ])
    for (const id of ['T-001', 'T-002', 'T-999']) expect(unblocks(selection, id)).toEqual([])
  })
})
