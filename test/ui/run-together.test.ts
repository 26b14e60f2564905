import { expect, it } from 'vitest'
import type { Emitted } from '../../src/engine/events/event.ts'
import { UNKNOWN_USAGE } from '../../src/base/usage.ts'
import { runStarted } from '../events/run-started.ts'
import { liveRun } from './live-run.ts'
import { attemptStarted, taskStarted } from './recorded.ts'

it('shows several jobs in one line each, with the task before each line', async () => {
  const { screen, emit, pass } = await liveRun(60, 24)
  const show = async (...events: readonly Emitted[]): Promise<string> => {
    for (const event of events) emit(0, event)
    pass(1)
    return (await screen.frame()).join('\n').trimEnd()
  }
  await show(runStarted({ jobs: 2 }))
  await show(taskStarted('T-001', 'Do T-001'), attemptStarted('T-001'), taskStarted('T-002', 'Do T-002'))
  expect(await show(attemptStarted('T-002'))).toMatch(
    /\n {2}T-001 {2}1 {2}● claude 2\.1\.326 begins +2s of 15m\n {2}T-002 {2}1 {2}● claude 2\.1\.326 begins +1s of 15m\n─+\n 2 of 6 done · 1 blocked · 3s$/,
  )
  const landing: Emitted = { type: 'candidate-ready', id: 'T-002', attempt: 1, ref: 'r' }
  const said = await show({ type: 'agent-text', id: 'T-001', text: 'reads the code' }, landing)
  expect(said).toContain('  T-001  1  ● reads the code')
  const held = await show({ type: 'landing-finished', id: 'T-002', result: 'held', paths: ['src/a.ts'] })
  expect(held).toContain('T-002  ◐  ready, waits for src/a.ts, which you have changed')
  const failed = await show({
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
  expect(failed).toMatch(/T-001 {5}✗ it conflicts with what has landed/)
  const end = await show(
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
  expect(end).not.toContain('●')
})
