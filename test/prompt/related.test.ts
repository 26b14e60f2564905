import { describe, expect, it } from 'vitest'
import type { Task } from '../../src/backlog/model.ts'
import { parseTask } from '../../src/backlog/parse.ts'
import { gather, makeProject } from './project.ts'

const read = (name: string, fields: string): Promise<Task> =>
  parseTask({ file: `docs/tasks/${name}.md`, text: `# ${name.slice(0, 5)}: Title\n\n${fields}\n` })

describe('the tasks that a prompt speaks of', () => {
  it('are the finished prerequisites, in the order in which they are named, and the milestone by number', async () => {
    const backlog = await Promise.all([
      read('T-010', '- **Status**: TODO\n- **Milestone**: 1 — One'),
      read('T-003', '- **Status**: DONE\n- **Milestone**: 2 — Two'),
      read('T-001', '- **Status**: DONE\n- **Milestone**: 1 — One'),
      read('T-002', '- **Status**: TODO'),
      read('T-004', '- **Status**: BLOCKED'),
    ])
    const task = await read(
      'T-009',
      '- **Status**: TODO\n- **Milestone**: 1 — One\n- **Depends**: T-003, T-002, T-004, T-001, T-3, T-099',
    )
    const wishes = { backlog: [...backlog, task] }
    const { prerequisites, milestone } = (await gather(makeProject(), task, wishes)).input
    expect(prerequisites.map(({ id }) => id)).toEqual(['T-003', 'T-001'])
    expect(milestone.map(({ id }) => id)).toEqual(['T-001', 'T-009', 'T-010'])
  })

  it('are the same in any order, also where two files have one number', async () => {
    const [one, other] = await Promise.all([
      read('T-001-a', '- **Status**: DONE'),
      read('T-001-b', '- **Status**: DONE'),
    ])
    const task = await read('T-002', '- **Status**: TODO\n- **Depends**: T-001')
    for (const backlog of [
      [one, other],
      [other, one],
    ]) {
      expect((await gather(makeProject(), task, { backlog })).input.prerequisites).toEqual([one])
    }
  })
})
