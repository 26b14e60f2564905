import { describe, expect, it } from 'vitest'
import type { Happening } from '../../src/engine/events/event.ts'
import { costSoFar, statusAfter, type RunStatus } from '../../src/screen/run-status.ts'
import { UNKNOWN_USAGE } from '../../src/base/usage.ts'
import { attemptStarted, completed, passed, taskStarted } from '../ui/recorded.ts'
import { runStarted } from './run-started.ts'

const started = runStarted()
const task = (id: string): Happening => taskStarted(id, `Do ${id}`)
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
    expect(after(task('T-1'), attemptStarted('T-1'), task('T-2'))?.jobs).toMatchObject([
      {
        id: 'T-1',
        title: 'Do T-1',
        attempt: { counted: 1, most: 4, since: 't2' },
        doing: 'agent',
        since: 't2',
        note: '',
        until: null,
      },
      { id: 'T-2', title: 'Do T-2', attempt: null, doing: 'waiting', note: '', until: null },
    ])
    const gate = { name: 'test', command: 'x', required: true, timeoutSeconds: 1 }
    expect(
      after(task('T-1'), attemptStarted('T-1'), { type: 'gate-started', id: 'T-1', gate })?.jobs,
    ).toMatchObject([{ doing: 'gates', note: 'test' }])
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

  it('counts what is done of the backlog, and what it has cost', () => {
    const usage = (costUsd: number) => ({ ...UNKNOWN_USAGE, costUsd })
    const atWork = after(task('T-1'), attemptStarted('T-1'), {
      type: 'agent-usage',
      id: 'T-1',
      usage: usage(0.25),
    })
    expect(atWork).toMatchObject({ cost: null, progress: { tasks: 6, done: 2, blocked: 1 } })
    expect(costSoFar(atWork!)).toBe(0.25)
    const over = after(
      task('T-1'),
      attemptStarted('T-1'),
      passed('T-1', usage(0.5)),
      { type: 'task-added', id: 'T-1', added: 'T-9', title: '' },
      completed('T-1', ''),
    )
    expect(over).toMatchObject({ cost: 0.5, progress: { tasks: 7, done: 3, blocked: 1 } })
    expect(costSoFar(over!)).toBe(0.5)
  })

  it('counts the tasks that came in meanwhile', () => {
    const begun = { ...task('T-1'), tasks: 9 } as Happening
    expect(after(begun)?.progress).toMatchObject({ tasks: 9, done: 2 })
  })

  it('names what is held until it lands', () => {
    const held = { type: 'landing-finished', id: 'T-1', result: 'held', paths: ['a'] } as const
    expect(after(task('T-1'), held)?.held).toEqual([{ id: 'T-1', paths: ['a'] }])
    expect(after(task('T-1'), held, completed('T-1', ''))?.held).toEqual([])
  })

  it('tells which workers there are, and what each is at', () => {
    const joined = (worker: string): Happening => ({ type: 'worker-joined', worker, places: 2, labels: [] })
    const begun: Happening = { ...attemptStarted('T-1'), worker: 'b-2' } as Happening
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
    expect(after({ type: 'stopping' })).toMatchObject({ stopping: true, stop: null })
    expect(after({ type: 'stopping', how: 'after-attempt' })).toMatchObject({ stop: 'after-attempt' })
    const finished: Happening = {
      type: 'run-finished',
      completed: ['T-1'],
      blocked: [],
      failed: [],
      held: [],
      waiting: 0,
      end: 'done',
      reason: 'one task was asked for',
      seconds: 1,
      cost: null,
    }
    expect(after(task('T-1'), finished)).toMatchObject({
      jobs: [],
      completed: ['T-1'],
      ended: { at: 't2', end: 'done', reason: 'one task was asked for' },
    })
  })
})
