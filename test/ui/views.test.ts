import { describe, expect, it, test } from 'vitest'
import type { RunFinished } from '../../src/engine/events/event.ts'
import { UNKNOWN_USAGE } from '../../src/base/usage.ts'
import type { KeptAttempt } from '../../src/git/record.ts'
import type { CompletionRecord } from '../../src/history/completions.ts'
import { statsOf } from '../../src/history/stats.ts'
import type { VerifiedTask } from '../../src/history/verify.ts'
import type { PromptPart } from '../../src/prompt/template.ts'
import { attemptsView, showView } from '../../src/screen/show-view.ts'
import type { Block } from '../../src/screen/block.ts'
import { layOut } from '../../src/screen/layout.ts'
import { logView, statsView } from '../../src/screen/log-view.ts'
import { promptView } from '../../src/screen/prompt-view.ts'
import { needsWhole, waitingRows } from '../../src/screen/task-lines.ts'
import type { TaskCompleted } from '../../src/engine/events/event.ts'
import { summaryOf, type TaskEndEvent } from '../../src/screen/run-story.ts'
import { verifyView } from '../../src/screen/verify-view.ts'
import { select } from '../../src/backlog/select/selection.ts'
import { tierOf } from '../../src/backlog/select/tier.ts'
import { parseTask } from '../../src/backlog/parse.ts'
import { buildTask } from '../task/build-task.ts'

const usage = { ...UNKNOWN_USAGE, turns: 12, costUsd: 0.4 }
/** In local time, as views show it. */
const AT = new Date(2026, 2, 1, 10).getTime() / 1000

const verified = (id: string, more: Partial<VerifiedTask> = {}): VerifiedTask => ({
  id,
  commit: 'a1b2c3d',
  found: 'a1b2c3d4e5f6',
  state: 'sealed',
  gates: [],
  reverted: false,
  ...more,
})
const VERIFIED = [
  verified('T-001'),
  verified('T-002', { state: 'matches' }),
  verified('T-003', { state: 'moved', found: 'b1b2c3d4e5f6' }),
  verified('T-004', { state: 'missing', found: null, commit: null }),
  verified('T-005', { state: 'missing', found: 'c1b2c3d4e5f6' }),
  verified('T-006', { reverted: true }),
]
const verify = (tasks: readonly VerifiedTask[], more = {}): readonly Block[] =>
  verifyView({ tasks, fixed: [], isCutOff: false, unfinished: null, ...more })

const part = (name: PromptPart['name'], bytes: number): PromptPart => ({
  name,
  text: 'x'.repeat(bytes),
  tokens: Math.ceil(bytes / 4),
  bytes,
})
const prompt = (parts: readonly PromptPart[], warnings: readonly string[] = []): readonly Block[] => {
  const text = parts.map((one) => one.text).join('')
  return promptView({ text, parts, estimate: Math.ceil(text.length / 4) }, warnings)
}

const FINISHED: RunFinished = {
  type: 'run-finished',
  completed: [],
  blocked: [],
  failed: [],
  held: [],
  waiting: 0,
  end: 'nothing-eligible',
  reason: 'nothing is eligible',
  seconds: 61,
  cost: null,
}
const completed = (id: string, cost: number | null): TaskCompleted => ({
  type: 'task-completed',
  id,
  title: `Do ${id}`,
  commit: 'a1b2c3d4e5f6',
  duration: 61,
  attempts: 1,
  turns: 12,
  cost,
  usage,
  files: 1,
  added: 2,
  removed: 0,
})
const summary = (finished: Parameters<typeof summaryOf>[0], ends: readonly TaskEndEvent[]) =>
  summaryOf(finished, ends, { isLoop: true, interrupted: null, agent: 'claude' })
const ENDS: readonly TaskEndEvent[] = [
  completed('T-001', 0.4),
  completed('T-002', null),
  {
    type: 'task-blocked',
    id: 'T-003',
    title: 'Pay',
    reason: 'needs a key',
    attempts: 3,
    commit: 'b',
    asks: false,
  },
  { type: 'task-given-up', id: 'T-004', title: 'Bill', reason: 'the tests fail' },
]

const attempt = (number: number, more: Partial<KeptAttempt> = {}): KeptAttempt =>
  ({
    task: 'T-001',
    number,
    outcome: 'gates-failed',
    reason: 'the gate test failed',
    detail: '',
    agent: 'claude',
    usage: UNKNOWN_USAGE,
    seconds: 61,
    changed: [],
    caged: [],
    ref: `refs/ralph/attempts/T-001/${number}`,
    keptAt: AT,
    ...more,
  }) as KeptAttempt

const completion = (id: string, more: Partial<CompletionRecord> = {}): CompletionRecord => ({
  byRalph: true,
  id,
  title: `Do ${id}`,
  commit: 'a1b2c3d4e5f6',
  author: 'Ana',
  committedAt: AT,
  notes: '',
  agent: null,
  model: null,
  tier: null,
  attempts: null,
  seconds: null,
  usage: UNKNOWN_USAGE,
  gates: null,
  ran: [],
  flaky: [],
  gatesChanged: [],
  reverted: false,
  ...more,
})
const BY_AGENT = { agent: 'claude', model: 'large', attempts: 2, seconds: 61, usage, gates: ['test'] }
const COMPLETIONS = [
  completion('T-003', { ...BY_AGENT, committedAt: AT + 86_400, notes: 'Chose the short one.\n\n- And this' }),
  completion('T-002', { ...BY_AGENT, reverted: true }),
  completion('T-001', { byRalph: false, attempts: null }),
]
const stats = (completions: readonly CompletionRecord[]): readonly Block[] =>
  statsView({ agent: statsOf(completions, [], ({ agent }) => agent ?? 'people') }, 0)

const task = buildTask('T-001', {})
const stopped = buildTask('T-002', { status: 'BLOCKED', sections: { Blocked: 'MIT or GPL?' } })
const show = (attempts: readonly KeptAttempt[]) => {
  const selection = select([stopped])
  const [state] = selection.states
  const choice = tierOf(stopped)
  return showView({ state: state!, selection, choice, attempts, completion: null, underWay: new Map() }, null)
}
const VIEWS: Readonly<Record<string, readonly Block[]>> = {
  'verify, nothing': verify([]),
  'verify, one': verify(VERIFIED.slice(0, 1)),
  'verify, many': verify(VERIFIED, { fixed: ['T-007', 'T-008'], isCutOff: true }),
  'verify, one that a run is at': verify(VERIFIED.slice(3, 4), { unfinished: 'T-004' }),
  'verify, one that nothing can mend': verify(VERIFIED.slice(3, 4)),
  'prompt, nothing': prompt([]),
  'prompt, one': prompt([part('task', 40)], ['there is no feature billing']),
  'prompt, many': prompt(
    [part('task', 40), part('rules', 100_000), part('template', 4)],
    ['there is no feature billing', 'there is no discipline backend'],
  ),
  'summary, nothing': summary(FINISHED, []),
  'summary, one': summary({ ...FINISHED, completed: ['T-001'], end: 'done', waiting: 3 }, ENDS.slice(0, 1)),
  'summary, one blocked that nothing waits for': summary(
    { ...FINISHED, blocked: ['T-003'] },
    ENDS.slice(2, 3),
  ),
  'summary, one blocked that one waits for': summary(
    { ...FINISHED, blocked: ['T-003'], waiting: 1 },
    ENDS.slice(2, 3),
  ),
  'summary, done by a fallback, with an answer of its own': summary(
    { ...FINISHED, completed: ['T-001', 'T-002'], end: 'done' },
    [
      { ...completed('T-001', 0.4), agent: 'claude' },
      { ...completed('T-002', null), agent: 'codex', assumed: ['Which licence? → MIT'] },
    ],
  ),
  'summary, one left': summary({ ...FINISHED, failed: ['T-004'], waiting: 1, reason: '' }, ENDS.slice(3)),
  'summary, many': summary(
    {
      ...FINISHED,
      completed: ['T-001', 'T-002'],
      blocked: ['T-003'],
      failed: ['T-004'],
      held: ['T-005'],
      waiting: 2,
      cost: 0.4,
    },
    ENDS,
  ),
  'attempts, nothing': attemptsView(task, []),
  'attempts, one': attemptsView(task, [attempt(1)]),
  'attempts, many': attemptsView(task, [
    attempt(1, {
      usage,
      changed: ['src/a.ts', 'src/b.ts'],
      detail: 'src/a.ts:3:1 error: no',
      caged: ['write /etc/hosts'],
    }),
    attempt(2, { outcome: 'done', reason: 'passed' }),
  ]),
  'show, nothing': show([]),
  'show, one that asks something': show([attempt(1), attempt(2, { outcome: 'blocked' })]),
  'show, one whose attempts failed': show([attempt(1, { outcome: 'blocked' }), attempt(2)]),
  'log, nothing': logView([], 0),
  'log, nothing named': logView([], 3),
  'log, one': logView(COMPLETIONS.slice(2), 0),
  'log, many': logView(COMPLETIONS, 0),
  'stats, nothing': stats([]),
  'stats, one': stats(COMPLETIONS.slice(2)),
  'stats, many': stats(COMPLETIONS),
  'waiting, nothing': waitingRows([]),
  'waiting, one': waitingRows([
    { id: 'T-001', title: 'Pay', reasons: [{ why: 'waits for itself', where: '' }] },
  ]),
  'waiting, many': waitingRows([
    { id: 'T-001', title: 'Pay', reasons: [{ why: 'waits for itself', where: '' }] },
    {
      id: 'T-002',
      title: 'Bill',
      reasons: [
        { why: 'blocked: a key', where: 'ralph retry T-002' },
        { why: 'needs T-009', where: 'docs/tasks/T-002.md:4:1' },
      ],
    },
  ]),
}

it('each view shows nothing, one and many', async () => {
  const drawn = await Promise.all(
    Object.entries(VIEWS).map(
      async ([name, blocks]) => `── ${name}\n${layOut(blocks, { columns: 80, colour: false })}`,
    ),
  )
  await expect(drawn.join('\n')).toMatchFileSnapshot('golden/nothing, one and many.txt')
})

describe('a column that wraps', () => {
  const row = (...cells: readonly string[]): readonly Block[] => [
    { kind: 'table', rows: [cells], wrap: 1, indent: '' },
  ]
  test('is made no wider where it is narrow', async () => {
    const [first] = layOut(row('x'.repeat(40), 'ab', 'end'), { columns: 20, colour: false }).split('\n')
    expect(first).toBe('x'.repeat(19) + '…')
    const [wide] = layOut(row('x'.repeat(40), 'ab', 'end'), { columns: 60, colour: false }).split('\n')
    expect(wide).toBe(`${'x'.repeat(40)}  ab  end`)
  })
})

test.each([
  ['one that is missing among others', 'Depends**: T-002, T-009', true],
  ['one that only waits', 'Depends**: T-002', false],
  ['one with an open question', 'Depends**: T-002\n\n## Blocked\nWhich one?', true],
  ['one that cannot be read', 'Depends**: T-002 and what comes', true],
])('where %s stands is told by the whole task or not', async (_, field, whole) => {
  const waits = await parseTask({
    file: 'docs/tasks/T-003.md',
    text: `# T-003: Bill\n\n- **Status**: TODO\n- **${field}\n`,
  })
  const { states } = select([buildTask('T-002', {}), waits])
  expect(needsWhole(states.find(({ task }) => task.id === 'T-003')!)).toBe(whole)
})
