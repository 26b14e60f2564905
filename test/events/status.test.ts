import { describe, expect, it } from 'vitest'
import type { Happening } from '../../src/events/event.ts'
import { statusAfter, type RunStatus } from '../../src/events/status.ts'
import type { TaskJson } from '../../src/events/task.ts'

const started: Happening = {
  type: 'run-started',
  version: 1,
  run: 'r',
  root: '/shop',
  branch: 'main',
  head: 'abc',
  agent: 'claude',
  gates: [],
  loop: true,
  jobs: 1,
  queue: null,
  sandbox: { on: false, reason: null },
}
const task = (id: string): Happening => ({
  type: 'task-started',
  id,
  task: { title: `Do ${id}` } as TaskJson,
  tier: 'Light',
  limits: { turns: 1, seconds: 1, attempts: 4 },
  agent: 'claude',
})
const attempt = (id: string): Happening => ({
  type: 'attempt-started',
  id,
  attempt: 1,
  counted: 1,
  most: 4,
  agent: 'claude',
  model: null,
  log: 'x',
})
const question: Happening = { type: 'question', id: 'T-1', text: 'Which?', options: ['MIT'] }

const after = (...events: readonly Happening[]): RunStatus | null =>
  [started, ...events].reduce<RunStatus | null>(
    (status, event, index) => statusAfter(status, { at: `t${index}`, ...event }),
    null,
  )

describe('the status of a run', () => {
  it('is nothing before a run has begun', () => {
    expect(statusAfter(null, { at: 't', type: 'paused' })).toBeNull()
  })

  it('tells the tasks at work, and what they are at', () => {
    expect(after(task('T-1'), attempt('T-1'), task('T-2'))?.jobs).toEqual([
      {
        id: 'T-1',
        title: 'Do T-1',
        attempt: { counted: 1, most: 4, since: 't2' },
        doing: 'agent',
        note: '',
        until: null,
      },
      { id: 'T-2', title: 'Do T-2', attempt: null, doing: 'waiting', note: '', until: null },
    ])
    const gate = { name: 'test', command: 'x', required: true, timeoutSeconds: 1 }
    expect(after(task('T-1'), attempt('T-1'), { type: 'gate-started', id: 'T-1', gate })?.jobs).toMatchObject(
      [{ doing: 'gates', note: 'test' }],
    )
    expect(
      after(task('T-1'), { type: 'waiting', id: 'T-1', until: 'later', reason: 'a limit' })?.jobs,
    ).toMatchObject([{ doing: 'waiting', note: 'a limit', until: 'later' }])
  })

  it.each<[string, Happening]>([
    ['it is answered', { type: 'answered', id: 'T-1', answer: 'MIT' }],
    ['its task is over', { type: 'task-given-up', id: 'T-1', title: '', reason: '' }],
  ])('asks until %s', (_, end) => {
    expect(after(task('T-1'), question)?.questions).toEqual([{ id: 'T-1', text: 'Which?', options: ['MIT'] }])
    expect(after(task('T-1'), question, end)?.questions).toEqual([])
  })

  it('tells which workers there are, and what each is at', () => {
    const joined = (worker: string): Happening => ({ type: 'worker-joined', worker, places: 2, labels: [] })
    const begun: Happening = {
      type: 'attempt-started',
      id: 'T-1',
      attempt: 1,
      counted: 1,
      most: 4,
      agent: 'claude',
      model: null,
      log: '',
      worker: 'b-2',
    }
    const there = [joined('a-1'), joined('b-2'), task('T-1'), begun]
    const ready: Happening = { type: 'candidate-ready', id: 'T-1', attempt: 1, ref: '' }
    const gone: Happening = { type: 'worker-left', worker: 'a-1', why: 'lost', reason: '' }
    expect(after(...there)?.workers).toMatchObject([{ worker: 'a-1', tasks: [] }, { tasks: ['T-1'] }])
    expect(after(...there, ready, gone)?.workers).toEqual([
      { worker: 'b-2', places: 2, labels: [], tasks: [] },
    ])
  })

  it('tells whether it is paused, ending or over', () => {
    expect(after({ type: 'paused' })).toMatchObject({ paused: true, ended: null })
    expect(after({ type: 'paused' }, { type: 'resumed' })?.paused).toBe(false)
    expect(after({ type: 'stopping' })?.stopping).toBe(true)
    const finished: Happening = {
      type: 'run-finished',
      completed: ['T-1'],
      blocked: [],
      failed: [],
      held: [],
      waiting: 0,
      end: 'done',
      reason: 'one task, as asked',
      seconds: 1,
      cost: null,
    }
    expect(after(task('T-1'), finished)).toMatchObject({
      jobs: [],
      completed: ['T-1'],
      ended: { at: 't2', end: 'done', reason: 'one task, as asked' },
    })
  })
})
