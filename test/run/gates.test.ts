import { describe, expect, it } from 'vitest'
import { Control } from '../../src/engine/control.ts'
import type { RunEvent } from '../../src/engine/events/event.ts'
import { git, put } from '../repository.ts'
import { log, makeProject, runAll, those, trailer } from './harness.ts'
import { gateOf, type Harness } from './ports.ts'

/** One attempt at one task, after which three gates run. */
async function attempt(gate: NonNullable<Harness['gate']>, control = new Control()) {
  const root = makeProject()
  const events = await runAll({
    root,
    deed: ({ cwd }) => put(cwd, { work: '1' }),
    options: { gates: [gateOf('a'), gateOf('b', { required: false }), gateOf('c')], retries: 0 },
    ports: { control },
    gate,
  })
  return { root, events, ended: those(events, 'attempt-finished')[0] }
}

const progress = (events: readonly RunEvent[]) =>
  events.flatMap((event) => {
    if (event.type === 'gate-started') return [`${event.gate.name} begins`]
    return event.type === 'gate-finished' ? [`${event.result.gate.name} ${event.result.verdict}`] : []
  })

describe('the gates', () => {
  it('run in their order, also after one has failed, so that an agent hears of all that is wrong', async () => {
    const { root, events, ended } = await attempt(({ name }) => ({
      verdict: name === 'b' ? 'passed' : 'failed',
      reason: 'exited with code 1',
      excerpt: name === 'a' ? 'AssertionError: 2 is not 3\n    at x.ts:3:4\n1 failed' : '',
    }))
    expect(progress(events)).toEqual(['a begins', 'a failed', 'b begins', 'b passed', 'c begins', 'c failed'])
    // With the line of the output that says most.
    const reason = 'a: exited with code 1: AssertionError: 2 is not 3; c: exited with code 1'
    expect(ended).toMatchObject({ outcome: 'gate-failed', reason })
    expect(trailer(root, 'Blocked')).toContain(reason)
  })

  it.each(['interrupted', 'passed'] as const)(
    'end with an interruption, and those that were to come do not run: %s',
    async (verdict) => {
      const control = new Control()
      const { root, events, ended } = await attempt(({ name }) => {
        if (verdict === 'interrupted' || name === 'c') control.stop('clean')
        return { verdict }
      }, control)
      expect(progress(events).at(-1)).toBe(verdict === 'passed' ? 'c passed' : 'a interrupted')
      expect(ended).toMatchObject({ outcome: 'interrupted' })
      expect([log(root), git(root, 'for-each-ref', 'refs/ralph/candidates')]).toEqual(['Begin', ''])
    },
  )
})
