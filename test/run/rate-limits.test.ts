import { describe, expect, it } from 'vitest'
import type { AgentEnd } from '../../src/agents/port.ts'
import { Control } from '../../src/engine/control.ts'
import { sleep } from '../../src/process/sleep.ts'
import { git, put } from '../repository.ts'
import { makeProject, runAll, those } from './harness.ts'
import { agentOf, doneBy, type Deed } from './ports.ts'

const START = Date.parse('2026-01-01T00:00:00Z')
const HOUR = 3_600_000

const limited = (until: number): AgentEnd => ({
  kind: 'rate-limited',
  reason: 'limit',
  until: new Date(until),
})

const work: Deed = ({ cwd, task }) => put(cwd, { [`src/${task.id}.ts`]: 'export {}' })

describe('while an agent waits for its limit to end', () => {
  it('another one goes on, and the first returns when it has ended', async () => {
    const root = makeProject(3)
    let clock = START
    const first = agentOf(
      (request) => (clock < START + HOUR ? { end: limited(START + HOUR) } : work(request)),
      'first',
    )
    const second = agentOf((request) => {
      clock += HOUR * 0.6
      return work(request)
    }, 'second')
    const events = await runAll({
      root,
      ports: { now: () => new Date(clock), ...doneBy(first, second) },
    })
    // The first is asked once, is left alone while its limit lasts, and is back with the third task.
    expect(those(events, 'attempt-started').map(({ id, agent }) => `${id} ${agent}`)).toEqual([
      'T-1 first',
      'T-1 second',
      'T-2 second',
      'T-3 first',
    ])
    expect(those(events, 'waiting')).toEqual([])
    // With each task the first would be asked: that another one is, is shown.
    expect(those(events, 'warning').map(({ message }) => message)).toEqual(
      ['T-1', 'T-2'].map(
        (id) => expect.stringMatching(`second continues ${id}: first waits until`) as string,
      ),
    )
    expect(git(root, 'log', '--format=%(trailers:key=Attempts,valueonly,separator=)', '-3')).toBe('1\n1\n1')
  })

  it('where all have a limit, the one that ends first is waited for', async () => {
    const root = makeProject()
    let clock = START
    const until = (name: string, end: number) =>
      agentOf((request) => (clock < end ? { end: limited(end) } : work(request)), name)
    const events = await runAll({
      root,
      ports: {
        now: () => new Date(clock),
        sleep: async (ms) => void (clock += ms),
        ...doneBy(until('first', START + 2 * HOUR), until('second', START + HOUR)),
      },
    })
    expect(those(events, 'waiting').map((event) => Date.parse(event.until) - START)).toEqual([HOUR])
    expect(those(events, 'attempt-started').map(({ agent }) => agent)).toEqual(['first', 'second', 'second'])
  })

  it('the wait goes by the time of day: a laptop that slept through it goes on at once', async () => {
    const root = makeProject()
    let clock = START
    const sleeps: number[] = []
    await runAll({
      root,
      deed: (request) => (clock < START + 5 * HOUR ? { end: limited(START + 5 * HOUR) } : work(request)),
      ports: {
        now: () => new Date(clock),
        sleep: async (ms) => {
          sleeps.push(ms)
          // The lid is closed after the second step, and opened in the morning.
          clock += sleeps.length === 2 ? 9 * HOUR : ms
        },
      },
    })
    expect(sleeps).toEqual([30_000, 30_000])
    expect(git(root, 'log', '-1', '--format=%s')).toBe('T-1: Do T-1')
  })

  it('Ctrl-C ends it at once, with the tree as it was', async () => {
    const root = makeProject()
    const control = new Control()
    const events = await runAll({
      root,
      deed: () => ({ end: limited(Date.now() + 24 * HOUR) }),
      ports: {
        control,
        sleep: (ms, signal) => {
          queueMicrotask(() => control.stop('clean'))
          return sleep(ms, signal)
        },
      },
    })
    expect(those(events, 'run-finished')).toMatchObject([{ end: 'interrupted' }])
    expect(git(root, 'status', '--short')).toBe('')
    expect(git(root, 'for-each-ref', 'refs/ralph')).toBe('')
  })
})

describe('an agent that can do nothing more in this run', () => {
  const unable: readonly Extract<AgentEnd, { kind: 'auth' | 'refused' }>[] = [
    { kind: 'auth', reason: 'Any is not logged in' },
    { kind: 'refused', reason: 'no such model', hopeless: 'agent' },
  ]

  it.each(unable)('leaves the tasks to another one: $reason', async (end) => {
    const events = await runAll({
      root: makeProject(2),
      ports: doneBy(
        agentOf(() => ({ end, toolCalls: 0 }), 'first'),
        agentOf(work, 'second'),
      ),
    })
    expect(those(events, 'attempt-started').map(({ id, agent }) => `${id} ${agent}`)).toEqual([
      'T-1 first',
      'T-1 second',
      'T-2 second',
    ])
    expect(those(events, 'run-finished')).toMatchObject([{ end: 'done', completed: ['T-1', 'T-2'] }])
  })

  it.each(unable)(
    'ends the run where there is no other, and counts against no task: $reason',
    async (end) => {
      const root = makeProject(2)
      const events = await runAll({ root, deed: () => ({ end, toolCalls: 0 }) })
      expect(those(events, 'attempt-started')).toHaveLength(1)
      expect(those(events, 'run-finished')).toMatchObject([
        { end: 'stopped', reason: end.reason, blocked: [] },
      ])
      expect(git(root, 'for-each-ref', 'refs/ralph')).toBe('')
    },
  )

  it('is one whose limit comes back after a wait and is about money', async () => {
    let clock = START
    const broke: AgentEnd = { kind: 'rate-limited', reason: 'no credit', until: null, unpaid: true }
    const waiting = { now: () => new Date(clock), sleep: async (ms: number) => void (clock += ms) }
    const events = await runAll({ root: makeProject(), deed: () => ({ end: broke }), ports: waiting })
    expect(those(events, 'attempt-started')).toHaveLength(2)
    const reason = 'waiting does not help, so it seems to be about money: no credit'
    expect(those(events, 'run-finished')).toMatchObject([{ end: 'stopped', reason }])
  })
})
