import { expect, it } from 'vitest'
import type { Happening } from '../../src/engine/events/event.ts'
import { statusAfter, type RunOverview, type RunStatus } from '../../src/screen/run-status.ts'
import type { TaskJson } from '../../src/backlog/json.ts'
import { layOut } from '../../src/screen/layout.ts'
import { runsView, statusView } from '../../src/screen/status-view.ts'
import { runStarted } from '../events/run-started.ts'

const BEGAN = new Date(2025, 0, 15, 14, 0)
const BEGUN: readonly Happening[] = [
  runStarted(),
  {
    type: 'task-started',
    id: 'T-001',
    task: { title: 'Pay' } as TaskJson,
    tier: 'Light',
    limits: { turns: 1, seconds: 1, attempts: 4 },
    agent: 'claude',
  },
]

/** What is shown of a run in which this has happened, 5 seconds after its begin. */
function shown(...events: readonly Happening[]): string {
  return shownWith({ waiting: [] }, ...events)
}

function shownWith(
  live: Pick<NonNullable<RunOverview['run']>, 'waiting'> & Partial<RunStatus>,
  ...events: readonly Happening[]
): string {
  let status: RunStatus | null = null
  for (const event of [...BEGUN, ...events])
    status = statusAfter(status, { at: BEGAN.toISOString(), ...event })
  const run = status && { ...status, ...live, pid: 7, host: 'here' }
  const now = new Date(BEGAN.getTime() + 5000)
  const blocks = statusView({ run, last: null, candidates: [] }, now)
  return layOut(blocks, { columns: 100, colour: false })
}

it.each([
  [6000, '◌ no network · for 1s'],
  [3_600_000, '◌ no network · until 15:00 (in 59m)'],
])('says how long a wait still lasts that ends %i ms after the begin', (milliseconds, expected) => {
  const until = new Date(BEGAN.getTime() + milliseconds).toISOString()
  expect(shown({ type: 'waiting', id: 'T-001', until, reason: 'no network' })).toContain(expected)
})

it.each([
  [{}, ' · stopping '],
  [{ how: 'after-attempt' }, ' · stopping after this attempt\n'],
  [{ how: 'clean' }, ' · stopping now '],
  [{ how: 'now' }, ' · stopping at once '],
] as const)('says how a run is to end: %j', (more, expected) => {
  expect(shown({ type: 'stopping', ...more })).toContain(expected)
})

it('says what each worker is at, when it was last heard of, and what waits for one', () => {
  const one = { places: 1, labels: [], tasks: [], seen: BEGAN.toISOString() }
  const workers = [
    { ...one, worker: 'ada', tasks: ['T-001'], state: 'works' },
    { ...one, worker: 'bob', tasks: ['T-002'], state: 'leaving' },
    { ...one, worker: 'cy', state: 'waits' },
    { ...one, worker: 'dee', tasks: ['T-003'], state: 'silent' },
    // Of a run that does not answer.
    { worker: 'eve', places: 2, labels: [], tasks: [] },
  ] as const
  const text = shownWith({ workers, waiting: ['T-004', 'T-005'] })
  expect(text.split('\n').filter((line) => /worker/.test(line))).toEqual([
    'worker ada  1 place · T-001 · seen 5s ago',
    'worker bob  1 place · T-002 · takes no more · seen 5s ago',
    'worker cy  1 place · waits · seen 5s ago',
    'worker dee  1 place · T-003 · silent · seen 5s ago',
    'worker eve  2 places · waits',
    'wait for a worker  T-004, T-005',
  ])
})

it('counts what came of the tasks of a run that is over, in the words of its summary', () => {
  const ended: readonly Happening[] = [
    ...BEGUN,
    { type: 'candidate-ready', id: 'T-004', attempt: 1, ref: 'r' },
    { type: 'landing-finished', id: 'T-004', result: 'held', paths: ['a.ts'] },
    {
      type: 'run-finished',
      completed: ['T-002', 'T-003'],
      blocked: ['T-001'],
      failed: [],
      held: ['T-004'],
      waiting: 0,
      end: 'done',
      reason: '4 tasks, as asked',
      seconds: 1,
      cost: null,
    },
  ]
  const last = ended.reduce<RunStatus | null>(
    (status, event) => statusAfter(status, { at: BEGAN.toISOString(), ...event }),
    null,
  )!
  const text = (blocks: Parameters<typeof layOut>[0]) => layOut(blocks, { columns: 100, colour: false })
  expect(text(statusView({ run: null, last, candidates: [] }, BEGAN))).toContain(
    'The last run ended 2025-01-15 14:00: 2 done, 1 blocked, 1 held; 4 tasks, as asked.',
  )
  expect(text(runsView([last, { ...last, blocked: [], held: [] }]))).toBe(
    'r  done  2 done  1 blocked · 1 held  4 tasks, as asked\nr  done  2 done                      4 tasks, as asked\n',
  )
})
