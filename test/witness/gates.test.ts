import { describe, expect, it } from 'vitest'
import type { GateResult } from '../../src/base/nouns.ts'
import { put } from '../repository.ts'
import { makeProject, runAll, those, trailer } from '../run/harness.ts'
import { gateOf, type Deed } from '../run/ports.ts'

const FAILS: Partial<GateResult> = {
  verdict: 'failed',
  tests: { run: 2, skipped: 0, failed: 1 },
  excerpt: 'FAIL test/slow.test.js > waits',
}
const works: Deed = ({ cwd }) => put(cwd, { 'src/a.js': '' })

/** Runs one attempt at a task, with gates that end like this, one after the other, and then pass. */
async function runWith(
  results: readonly (Partial<GateResult> | boolean)[],
  { deed = works, rerun, baseline = 'off' }: { deed?: Deed; rerun?: number; baseline?: 'off' | 'warn' } = {},
) {
  const root = makeProject()
  let calls = 0
  const gate = gateOf('test', rerun === undefined ? {} : { rerun })
  const events = await runAll({
    root,
    deed,
    options: { retries: 0, gates: [gate], baseline },
    gate: () => results[calls++] ?? true,
  })
  const outcomes = those(events, 'attempt-finished').map(({ outcome }) => outcome)
  return { root, events, calls, outcomes, isDone: those(events, 'task-completed').length > 0 }
}

describe('a gate whose tests fail', () => {
  it('and then pass twice on the same files is flaky, and the commit says so', async () => {
    const { root, calls, isDone, events } = await runWith([FAILS])
    expect([calls, isDone, trailer(root, 'Flaky')]).toEqual([3, true, 'test'])
    expect(those(events, 'gate-finished').at(-1)?.result.flaky).toBe(true)
  })

  it('fails if it passes only once', async () => {
    const { calls, outcomes } = await runWith([FAILS, true, FAILS])
    expect([calls, outcomes]).toEqual([3, ['gate-failed']])
  })

  it('fails if it fails each time', async () => {
    const { calls, outcomes } = await runWith([FAILS, FAILS])
    expect([calls, outcomes]).toEqual([2, ['gate-failed']])
  })

  it('runs again as often as its configuration says', async () => {
    expect((await runWith([FAILS], { rerun: 0 })).calls).toBe(1)
    const { calls, isDone } = await runWith([FAILS, FAILS, FAILS], { rerun: 3 })
    expect([calls, isDone]).toEqual([5, true])
  })

  it.each<readonly [string, Partial<GateResult> | false, Deed]>([
    ['in a test that the task adds', FAILS, ({ cwd }) => put(cwd, { 'test/slow.test.js': '' })],
    ['after more than five minutes', { ...FAILS, seconds: 301 }, works],
    ['without a count of tests', false, works],
  ])('fails at once %s', async (_, result, deed) => {
    const { calls, outcomes } = await runWith([result], { deed })
    expect([calls, outcomes]).toEqual([1, ['gate-failed']])
  })
})

describe('a gate that was green, and fails where nothing has changed,', () => {
  it('ends the run if it fails on the untouched code, too', async () => {
    const { events, outcomes } = await runWith([true, false, false], { baseline: 'warn' })
    expect(outcomes).toEqual(['base-changed'])
    expect(those(events, 'run-finished')[0]?.reason).toContain(
      'test passed on the untouched code before, and now fails there, too',
    )
  })

  it('fails the attempt if it passes there', async () => {
    const { calls, outcomes } = await runWith([true, false, true], { baseline: 'warn' })
    expect([calls, outcomes]).toEqual([3, ['gate-failed']])
  })

  it('fails the attempt at once if its output names what has changed', async () => {
    const result = { verdict: 'failed', excerpt: 'src/a.js:1: no such name' } as const
    const { calls, outcomes } = await runWith([true, result], { baseline: 'warn' })
    expect([calls, outcomes]).toEqual([2, ['gate-failed']])
  })
})
