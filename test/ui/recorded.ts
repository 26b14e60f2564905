import type { Emitted } from '../../src/engine/events/event.ts'
import type { Gate, GateResult, Usage } from '../../src/base/nouns.ts'
import { UNKNOWN_USAGE } from '../../src/base/usage.ts'
import { taskJson } from '../../src/backlog/select/task-json.ts'
import { tierOf } from '../../src/backlog/select/tier.ts'
import { runStarted } from '../events/run-started.ts'
import { buildTask } from '../task/build-task.ts'

/** What happens, and at which second of the run. */
export type At = readonly [seconds: number, happening: Emitted]

/** When the recorded runs began. */
export const START = new Date(2025, 0, 15, 14, 30).getTime()
export const test: Gate = { name: 'test', command: 'npm test', required: true, timeoutSeconds: 60 }
export const typecheck: Gate = { ...test, name: 'typecheck' }
/** So many turns, and so many dollars. */
export const usage = (turns: number, costUsd: number): Usage => ({
  turns,
  costUsd,
  inputTokens: null,
  cachedTokens: null,
  outputTokens: null,
})

/** What a gate found: failed, where something is excerpted. */
export function result(gate: Gate, seconds: number, excerpt = ''): GateResult {
  const verdict = excerpt === '' ? 'passed' : 'failed'
  return {
    gate,
    verdict,
    seconds,
    reason: verdict === 'passed' ? 'passed' : 'exited with code 1',
    excerpt,
    fingerprint: '',
  }
}

/** The end of an attempt of which nothing more is to say. */
export const ended = { id: 'T-004', detail: '', denied: [], ref: null } as const

/** Each with the second at which it happens: the run of SCREENS, in which a gate refuses the first attempt. */
export const STORY: readonly At[] = [
  [0, runStarted({ root: '/home/ana/shop', agent: 'claude 2.1.326', gates: [typecheck, test] })],
  [10, { type: 'baseline-finished', results: [result(typecheck, 1.2), result(test, 8.4)] }],
  [10, taskStarted('T-004', 'Add the login form')],
  [10, attemptStarted('T-004')],
  [20, tool('T-004', 'Edit src/auth/login.ts')],
  [194, { type: 'agent-usage', id: 'T-004', usage: usage(12, 0.21) }],
  [
    200,
    {
      type: 'caged',
      id: 'T-004',
      by: 'agent',
      action: 'connect',
      target: 'example.com:443',
      allowedBy: 'sandbox.network: "example.com"',
    },
  ],
  [382, { type: 'gate-started', id: 'T-004', gate: test }],
  [
    391,
    {
      type: 'gate-finished',
      id: 'T-004',
      result: result(test, 9.1, 'login.test.ts\n  refuses an empty password'),
    },
  ],
  [
    391,
    {
      ...ended,
      type: 'attempt-finished',
      attempt: 1,
      counted: 1,
      outcome: 'gate-failed',
      reason: 'test: exited with code 1: refuses an empty password',
      seconds: 381,
      usage: usage(31, 0.42),
    },
  ],
  [391, attemptStarted('T-004', 2)],
  [491, { type: 'gate-started', id: 'T-004', gate: typecheck }],
  [492, { type: 'gate-finished', id: 'T-004', result: result(typecheck, 1.3) }],
  [501, { type: 'gate-finished', id: 'T-004', result: result(test, 8.9) }],
  [
    501,
    {
      ...ended,
      type: 'attempt-finished',
      attempt: 2,
      counted: 2,
      outcome: 'done',
      reason: 'done',
      seconds: 110,
      usage: usage(8, 0.11),
    },
  ],
  [
    502,
    {
      type: 'task-completed',
      id: 'T-004',
      title: 'Add the login form',
      commit: 'a41f7c2bbbbbbb',
      duration: 492,
      attempts: 2,
      turns: 39,
      cost: 0.53,
      usage: usage(39, 0.53),
      files: 3,
      added: 120,
      removed: 4,
    },
  ],
  [
    600,
    {
      type: 'task-blocked',
      asks: false,
      id: 'T-006',
      title: 'Payments',
      reason: 'needs STRIPE_KEY',
      attempts: 1,
      commit: 'ccc',
    },
  ],
  [
    600,
    {
      type: 'run-finished',
      completed: ['T-004'],
      blocked: ['T-006'],
      failed: [],
      held: [],
      waiting: 3,
      end: 'nothing-eligible',
      reason: 'nothing is eligible any more',
      seconds: 600,
      cost: 0.53,
    },
  ],
]

/** A task that begins. */
export function taskStarted(id: string, title: string): Emitted {
  return {
    type: 'task-started',
    id,
    task: taskJson({ task: buildTask(id, { title }), eligible: true, waiting: [] }, (task) => tierOf(task)),
    tier: 'Standard',
    limits: { turns: 75, seconds: 900, attempts: 4 },
    agent: 'claude 2.1.326',
  }
}

/** An attempt that begins. */
export function attemptStarted(
  id: string,
  counted = 1,
  more: { model?: string; log?: string } = {},
): Emitted {
  const agent = 'claude 2.1.326'
  const event = { id, attempt: counted, counted, most: 4, agent, model: null, log: '', ...more }
  return { type: 'attempt-started', ...event }
}

/** A tool at work, or how it ended. */
export function tool(
  id: string,
  summary: string,
  status: 'running' | 'ok' | 'failed' | 'denied' = 'running',
): Emitted {
  return { type: 'agent-tool', id, name: summary.split(' ')[0]!, summary, status }
}

/** An attempt whose work passed. */
export function passed(id: string, usageOfIt: Usage = UNKNOWN_USAGE): Emitted {
  const of = { attempt: 1, counted: 1, reason: 'done', seconds: 60, usage: usageOfIt }
  return { ...ended, id, type: 'attempt-finished', outcome: 'done', ...of }
}

/** A task's commit. */
export function completed(id: string, title: string, duration = 492): Emitted {
  const of = { attempts: 1, turns: 39, cost: 0.53, usage: usage(39, 0.53), files: 3, added: 120, removed: 4 }
  return { type: 'task-completed', id, title, commit: 'a41f7c2bbbbbbb', duration, ...of }
}

/** An agent at work on its first attempt, after others have been done: a moment to look at. */
export const AT_WORK: readonly At[] = [
  [
    0,
    runStarted({
      root: '/home/ana/shop',
      agent: 'claude 2.1.326',
      gates: [typecheck, test],
      counts: { TODO: 8, DONE: 5, BLOCKED: 1 },
      budget: 10,
    }),
  ],
  [9, { type: 'baseline-finished', results: [result(typecheck, 1.2), result(test, 8.4)] }],
  [10, taskStarted('T-004', 'Add the login form')],
  [10, attemptStarted('T-004')],
  [12, tool('T-004', 'Read src/auth/session.ts')],
  [12, tool('T-004', 'Read src/auth/session.ts', 'ok')],
  [40, tool('T-004', 'Edit src/auth/login.ts')],
  [40, tool('T-004', 'Edit src/auth/login.ts', 'ok')],
  [80, tool('T-004', 'Bash npm test')],
  [92, tool('T-004', 'Bash npm test', 'failed')],
  [95, { type: 'agent-text', id: 'T-004', text: 'The form does not report its errors yet.\nI will look.' }],
  [180, { type: 'agent-usage', id: 'T-004', usage: usage(12, 0.21) }],
  [194, tool('T-004', 'Edit src/auth/login.ts')],
]

/** Several jobs at once: one at its gates, one landed, one held, one that waits for a limit, one that asks. */
export const TOGETHER: readonly At[] = [
  [
    0,
    runStarted({
      root: '/home/ana/shop',
      agent: 'claude 2.1.326',
      gates: [test],
      jobs: 3,
      counts: { TODO: 9, DONE: 4, BLOCKED: 1 },
      sandbox: { on: true, reason: null },
    }),
  ],
  [1, taskStarted('T-004', 'Add the login form')],
  [1, attemptStarted('T-004')],
  [2, taskStarted('T-007', 'Exchange rates, 為替レート in all currencies')],
  [2, attemptStarted('T-007')],
  [3, taskStarted('T-009', 'Round to cents')],
  [3, attemptStarted('T-009')],
  [30, tool('T-009', 'Edit src/money.ts')],
  [40, passed('T-009', usage(9, 0.09))],
  [40, { type: 'candidate-ready', id: 'T-009', attempt: 1, ref: 'r' }],
  [41, { type: 'landing-started', id: 'T-009', ref: 'r' }],
  [42, { type: 'landing-finished', id: 'T-009', result: 'landed', paths: [] }],
  [42, completed('T-009', 'Round to cents', 39)],
  [43, taskStarted('T-010', 'Show the total')],
  [43, attemptStarted('T-010')],
  [70, passed('T-010')],
  [70, { type: 'candidate-ready', id: 'T-010', attempt: 1, ref: 'r' }],
  [71, { type: 'landing-finished', id: 'T-010', result: 'held', paths: ['src/money.ts'] }],
  [72, taskStarted('T-011', 'Say how to pay')],
  [72, attemptStarted('T-011')],
  [73, { type: 'question', id: 'T-011', text: 'Which licence?', options: ['MIT', 'Apache-2.0'] }],
  [80, tool('T-004', 'Edit src/auth/login.ts')],
  [81, { type: 'agent-usage', id: 'T-004', usage: usage(12, 0.21) }],
  [90, { type: 'gate-started', id: 'T-007', gate: test }],
  [92, taskStarted('T-012', 'Send a receipt')],
  [
    92,
    {
      type: 'waiting',
      id: 'T-012',
      until: new Date(START + 2552_000).toISOString(),
      reason: 'claude: usage limit',
    },
  ],
]
