import type { Emitted, RunEvent } from '../../src/engine/events/event.ts'
import type { TaskJson } from '../../src/backlog/json.ts'
import { UNKNOWN_USAGE } from '../../src/base/usage.ts'
import type { BoardTask } from '../../src/screen/full/board.ts'

/** When the run of these tests began. */
export const BEGAN = Date.UTC(2025, 0, 15, 14, 0)

const shop: readonly (readonly [id: string, title: string, milestone: string, rest: Partial<BoardTask>])[] = [
  ['T-001', 'Say how to work', '1 — Basket', { status: 'DONE' }],
  ['T-002', 'Add the cart', '1 — Basket', { status: 'DONE' }],
  ['T-004', 'Add the login form', '1 — Basket', { eligible: true }],
  ['T-006', 'Payments', '1 — Basket', { eligible: true }],
  ['T-007', 'Exchange rates 為替', '2 — Money', { eligible: true }],
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
  eligible: false,
  waits: '',
  ...rest,
}))

/** A task as the events of a run have it. */
export function taskJson(id: string): TaskJson {
  const { title = id, file = '', milestone = null } = TASKS.find((task) => task.id === id) ?? {}
  return {
    id,
    number: Number(id.slice(2)),
    title,
    file,
    status: 'TODO',
    milestone,
    depends: [],
    touches: [],
    produces: [],
    prdReference: [],
    tier: 'Standard',
    tierSource: 'detected',
    maxTurns: 75,
    timeoutSeconds: 900,
    eligible: true,
    waiting: [],
    completed: null,
    commit: null,
    cost: null,
    fields: {},
  }
}

const gate = (name: string) => ({ name, command: name, required: true, timeoutSeconds: 60 })
const passed = (name: string, seconds: number) =>
  ({ gate: gate(name), verdict: 'passed', seconds, reason: '', excerpt: '', fingerprint: '' }) as const
const usage = (turns: number, costUsd: number) => ({ ...UNKNOWN_USAGE, turns, costUsd })

/** Events, each so many seconds after the run began. */
export function timed(events: readonly (readonly [second: number, event: Emitted])[]): readonly RunEvent[] {
  return events.map(([second, event]) => ({ at: new Date(BEGAN + second * 1000).toISOString(), ...event }))
}

/** A run begins: one task at a time, or several. */
export const begun = (jobs = 1): Emitted => ({
  type: 'run-started',
  version: 1,
  run: '2025-01-15T14-00-00-000Z',
  root: '/home/ana/shop',
  branch: 'main',
  head: '91c2d071234567890',
  agent: 'claude 2.1.326',
  gates: [gate('typecheck'), gate('test')],
  sandbox: { on: true, reason: null },
  loop: true,
  jobs,
  counts: { TODO: 5, DONE: 2, BLOCKED: 0 },
  queue: null,
  budget: 10,
})

/** An attempt at a task begins. */
export function attempt(id: string, second: number, counted = 1): readonly (readonly [number, Emitted])[] {
  const agent = 'claude 2.1.326'
  const limits = { turns: 75, seconds: 900, attempts: 4 }
  const log = `.ralph/logs/${id}-${counted}.log`
  return [
    ...(counted > 1
      ? []
      : ([
          [second, { type: 'task-started', id, task: taskJson(id), tier: 'Standard', limits, agent }],
        ] as const)),
    [
      second,
      { type: 'attempt-started', id, attempt: counted, counted, most: 4, agent, model: 'sonnet', log },
    ],
  ]
}

const failed = {
  gate: gate('test'),
  verdict: 'failed',
  seconds: 9.1,
  reason: '2 failed',
  excerpt: 'FAIL login.test.ts > refuses an empty password\nExpected: 422\nReceived: 200\n',
  fingerprint: 'f',
} as const

const said = (id: string, second: number, text: string) => [second, { type: 'agent-text', id, text }] as const
const tool = (id: string, second: number, summary: string) =>
  [second, { type: 'agent-tool', id, name: 'Edit', summary, status: 'running' }] as const

/** A run of two jobs in the middle: an attempt that failed, gates under way, a question, work that is held. */
export const TWO_JOBS: readonly RunEvent[] = timed([
  [0, begun(2)],
  ...attempt('T-004', 2),
  [2, { type: 'agent-started', id: 'T-004', pid: 1 }],
  tool('T-004', 5, 'Read src/auth/session.ts'),
  tool('T-004', 9, 'Edit src/auth/login.ts +48 −3'),
  tool('T-004', 20, 'Bash npm test'),
  [32, { type: 'agent-tool', id: 'T-004', name: 'Bash', summary: 'Bash npm test', status: 'failed' }],
  said('T-004', 33, "I'll look at how the form reports its errors:\n\n    if (!password) return 422\n"),
  [60, { type: 'agent-usage', id: 'T-004', usage: usage(31, 0.42) }],
  [61, { type: 'gate-started', id: 'T-004', gate: gate('typecheck') }],
  [62, { type: 'gate-finished', id: 'T-004', result: passed('typecheck', 1.2) }],
  [62, { type: 'gate-started', id: 'T-004', gate: gate('test') }],
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
  [100, { type: 'gate-started', id: 'T-004', gate: gate('typecheck') }],
  [101, { type: 'gate-finished', id: 'T-004', result: passed('typecheck', 1.3) }],
  [101, { type: 'gate-started', id: 'T-004', gate: gate('test') }],
])

/** A run that is over. */
export const ENDED: readonly RunEvent[] = timed([
  [0, begun()],
  ...attempt('T-004', 2),
  tool('T-004', 9, 'Edit src/auth/login.ts +48 −3'),
  [61, { type: 'gate-started', id: 'T-004', gate: gate('test') }],
  [62, { type: 'gate-finished', id: 'T-004', result: passed('test', 8.9) }],
  [
    63,
    {
      type: 'attempt-finished',
      id: 'T-004',
      attempt: 1,
      counted: 1,
      outcome: 'done',
      reason: '',
      detail: '',
      seconds: 60,
      usage: usage(31, 0.42),
      denied: [],
      ref: null,
    },
  ],
  [
    64,
    {
      type: 'task-completed',
      id: 'T-004',
      title: 'Add the login form',
      commit: 'a41f7c2000',
      duration: 62,
      attempts: 1,
      turns: 31,
      cost: 0.42,
      usage: usage(31, 0.42),
      files: 3,
      added: 120,
      removed: 4,
    },
  ],
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
