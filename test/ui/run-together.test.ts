import { expect, it } from 'vitest'
import type { Emitted } from '../../src/events/event.ts'
import { UNKNOWN_USAGE } from '../../src/events/usage.ts'
import { taskJson } from '../../src/select/task-json.ts'
import { tierOf } from '../../src/select/tier.ts'
import { RunReporter } from '../../src/ui/run-reporter.ts'
import { measureForAny } from '../../src/ui/width.ts'
import { buildTask } from '../task/build-task.ts'

const NOW = new Date(2025, 0, 15, 14, 30)

const started = (id: string): Emitted => ({
  type: 'task-started',
  id,
  task: taskJson({ task: buildTask(id, { title: `Do ${id}` }), eligible: true, waiting: [] }, (task) =>
    tierOf(task),
  ),
  tier: 'Light',
  limits: { turns: 50, seconds: 600, attempts: 4 },
  agent: 'claude',
})
const begun = (id: string): Emitted => ({
  type: 'attempt-started',
  id,
  attempt: 1,
  counted: 1,
  most: 4,
  agent: 'claude',
  model: null,
  log: '',
})

it('tells several jobs one line each, with the task before each line', async () => {
  let text = ''
  const reporter = new RunReporter({
    write: (chunk) => void (text += chunk),
    canvas: () => ({ columns: 60, colour: false }),
    measure: await measureForAny(),
    now: () => NOW,
    verbose: false,
  })
  const tell = (...events: readonly Emitted[]): string => {
    text = ''
    for (const event of events) reporter.event({ at: NOW.toISOString(), ...event })
    return text.replaceAll(/\u001b\[\d*[A-Z]/g, '').replaceAll('\r', '')
  }
  tell({
    type: 'run-started',
    version: 1,
    run: 'r',
    root: '/shop',
    branch: 'main',
    head: '91c2d07aaaa',
    agent: 'claude',
    gates: [],
    loop: true,
    jobs: 2,
    queue: null,
    sandbox: { on: false, reason: null },
  })
  tell(started('T-001'), begun('T-001'), started('T-002'))
  const live = tell(begun('T-002')).trimEnd().split('\n')
  expect(live).toHaveLength(2)
  expect(live[0]).toMatch(/^T-001 {2}1 {2}● claude begins +0s of 10m$/)
  expect(live[1]).toMatch(/^T-002 {2}1 {2}● claude begins +0s of 10m$/)
  // Both lines are taken away before the next ones are drawn.
  tell({ type: 'agent-text', id: 'T-001', text: 'reads the code' })
  expect(text.startsWith('\r\u001b[2K\u001b[1A\r\u001b[2K')).toBe(true)
  expect(tell({ type: 'candidate-ready', id: 'T-002', attempt: 1, ref: 'r' })).toContain(
    'T-001  1  ● reads the code',
  )
  const held = tell({ type: 'landing-finished', id: 'T-002', result: 'held', paths: ['src/a.ts'] })
  expect(held).toContain('T-002  ■  held, and kept until it can land')
  const failed = tell({
    type: 'attempt-finished',
    id: 'T-001',
    attempt: 1,
    counted: 1,
    outcome: 'conflict',
    reason: 'it conflicts with what has landed since it began: src/a.ts',
    detail: '',
    seconds: 1,
    usage: UNKNOWN_USAGE,
    denied: [],
    ref: null,
  })
  expect(failed).toContain('T-001  1  agent says done')
  expect(failed).toContain('T-001     ✗ it conflicts with what has landed')
  const end = tell(
    { type: 'task-given-up', id: 'T-001', title: 'Do T-001', reason: 'skipped' },
    {
      type: 'run-finished',
      completed: [],
      blocked: [],
      failed: ['T-001'],
      held: ['T-002'],
      waiting: 0,
      end: 'held',
      reason: 'what you have in the checkout keeps this from landing: T-002 (src/a.ts)',
      seconds: 5,
      cost: null,
    },
  )
  expect(end).toContain('0 done · 1 left · 1 held · 5s')
  expect(end).toContain('What you have in the checkout keeps this from landing: T-002')
})
