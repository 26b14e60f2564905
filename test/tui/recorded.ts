import type { Emitted, RunEvent } from '../../src/engine/events/event.ts'
import type { BoardTask } from '../../src/screen/full/board.ts'
import { runStarted } from '../events/run-started.ts'
import {
  attemptStarted,
  completed,
  passed,
  result,
  taskStarted,
  test,
  tool,
  typecheck,
  usage,
} from '../ui/recorded.ts'

/** When the run of these tests began. */
export const BEGAN = Date.UTC(2025, 0, 15, 14, 0)

const shop: readonly (readonly [id: string, title: string, milestone: string, rest: Partial<BoardTask>])[] = [
  ['T-001', 'Say how to work', '1 — Basket', { status: 'DONE' }],
  ['T-002', 'Add the cart', '1 — Basket', { status: 'DONE' }],
  ['T-004', 'Add the login form', '1 — Basket', {}],
  ['T-006', 'Payments', '1 — Basket', {}],
  ['T-007', 'Exchange rates 為替', '2 — Money', {}],
  ['T-005', 'Password reset', '2 — Money', { waits: 'T-004' }],
  ['T-008', 'Audit log', '2 — Money', { waits: 'T-004 +1' }],
]

/** The tasks of the shop, as their files say. */
export const TASKS: readonly BoardTask[] = shop.map(([id, title, milestone, rest]) => ({
  id,
  title,
  milestone,
  file: `docs/tasks/${id}.md`,
  status: 'TODO',
  waits: '',
  ...rest,
}))

/** Events, each so many seconds after the run began. */
export function timed(events: readonly (readonly [second: number, event: Emitted])[]): readonly RunEvent[] {
  return events.map(([second, event]) => ({ at: new Date(BEGAN + second * 1000).toISOString(), ...event }))
}

/** A run begins: one task at a time, or several. */
export const begun = (jobs = 1): Emitted =>
  runStarted({
    run: '2025-01-15T14-00-00-000Z',
    root: '/home/ana/shop',
    agent: 'claude 2.1.326',
    gates: [typecheck, test],
    sandbox: { on: true, reason: null },
    jobs,
    counts: { TODO: 5, DONE: 2, BLOCKED: 0 },
    budget: 10,
  })

/** An attempt at a task begins. */
export function attempt(id: string, second: number, counted = 1): readonly (readonly [number, Emitted])[] {
  const { title = id } = TASKS.find((task) => task.id === id) ?? {}
  const log = `.ralph/logs/${id}-${counted}.log`
  const begun = attemptStarted(id, counted, { model: 'sonnet', log })
  return [...(counted > 1 ? [] : [[second, taskStarted(id, title)] as const]), [second, begun]]
}

const failed = result(
  test,
  9.1,
  'FAIL login.test.ts > refuses an empty password\nExpected: 422\nReceived: 200\n',
)

const said = (id: string, second: number, text: string) => [second, { type: 'agent-text', id, text }] as const
const edits = (id: string, second: number, summary: string) => [second, tool(id, summary)] as const

/** A run of two jobs in the middle: an attempt that failed, gates under way, a question, work that is held. */
export const TWO_JOBS: readonly RunEvent[] = timed([
  [0, begun(2)],
  ...attempt('T-004', 2),
  [2, { type: 'agent-started', id: 'T-004', pid: 1 }],
  edits('T-004', 5, 'Read src/auth/session.ts'),
  edits('T-004', 9, 'Edit src/auth/login.ts +48 −3'),
  edits('T-004', 20, 'Bash npm test'),
  [32, tool('T-004', 'Bash npm test', 'failed')],
  said('T-004', 33, "I'll look at how the form reports its errors:\n\n    if (!password) return 422\n"),
  [60, { type: 'agent-usage', id: 'T-004', usage: usage(31, 0.42) }],
  [61, { type: 'gate-started', id: 'T-004', gate: typecheck }],
  [62, { type: 'gate-finished', id: 'T-004', result: result(typecheck, 1.2) }],
  [62, { type: 'gate-started', id: 'T-004', gate: test }],
  [71, { type: 'gate-finished', id: 'T-004', result: failed }],
  [
    72,
    {
      type: 'attempt-finished',
      id: 'T-004',
      attempt: 1,
      counted: 1,
      outcome: 'gate-failed',
      reason: 'test failed: 2 failed',
      detail: '',
      seconds: 70,
      usage: usage(31, 0.42),
      denied: [],
      ref: 'refs/ralph/attempts/T-004/1',
    },
  ],
  ...attempt('T-004', 73, 2),
  said(
    'T-004',
    80,
    'The counter forgets what it has counted \u001b[31m\u001b[2J\u001b[1;1Hin red\u001b]0;title\u0007.',
  ),
  ...attempt('T-007', 10),
  said('T-007', 15, '両替の表を読みます。'),
  ...attempt('T-006', 12),
  [
    90,
    {
      type: 'question',
      id: 'T-006',
      text: 'which licence should the package have?',
      options: ['MIT', 'Apache-2.0'],
    },
  ],
  [95, { type: 'agent-usage', id: 'T-004', usage: usage(8, 0.11) }],
  [100, { type: 'gate-started', id: 'T-004', gate: typecheck }],
  [101, { type: 'gate-finished', id: 'T-004', result: result(typecheck, 1.3) }],
  [101, { type: 'gate-started', id: 'T-004', gate: test }],
])

/** A run that is over. */
export const ENDED: readonly RunEvent[] = timed([
  [0, begun()],
  ...attempt('T-004', 2),
  edits('T-004', 9, 'Edit src/auth/login.ts +48 −3'),
  [61, { type: 'gate-started', id: 'T-004', gate: test }],
  [62, { type: 'gate-finished', id: 'T-004', result: result(test, 8.9) }],
  [63, passed('T-004', usage(31, 0.42))],
  [64, completed('T-004', 'Add the login form', 62)],
  ...attempt('T-006', 65),
  [
    80,
    {
      type: 'task-blocked',
      id: 'T-006',
      title: 'Payments',
      reason: 'needs STRIPE_KEY',
      asks: true,
      attempts: 1,
      commit: 'b0b0b0b',
    },
  ],
  [
    81,
    {
      type: 'run-finished',
      completed: ['T-004'],
      blocked: ['T-006'],
      failed: [],
      held: [],
      waiting: 2,
      end: 'nothing-eligible',
      reason: 'no task is eligible any more',
      seconds: 81,
      cost: 0.42,
    },
  ],
])
