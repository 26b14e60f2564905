import { describe, expect, it } from 'vitest'
import { Control } from '../../src/engine/control.ts'
import type { RunEvent } from '../../src/engine/events/event.ts'
import { put } from '../git/repository.ts'
import { makeProject, read, runAll, taskText, those } from './harness.ts'
import { gateOf, type Deed } from './ports.ts'

const gates = [gateOf('a'), gateOf('b', { required: false }), gateOf('c')]

/** One attempt at one task, after which these gates run. */
function attempt(gate: Parameters<typeof runAll>[0]['gate'], control = new Control()) {
  const root = makeProject({ 'T-1': taskText('T-1') })
  const deed: Deed = ({ cwd }) => put(cwd, { work: '1' })
  const ports = { control }
  return {
    root,
    events: runAll({ root, deed, options: { gates, retries: 0 }, ports, ...(gate && { gate }) }),
  }
}

const told = (events: readonly RunEvent[]) =>
  events.flatMap((event) => {
    if (event.type === 'gate-started') return [`${event.gate.name} begins`]
    return event.type === 'gate-finished' ? [`${event.result.gate.name} ${event.result.verdict}`] : []
  })

describe('the gates', () => {
  it('run in their order, also after one has failed, so that an agent hears of all that is wrong', async () => {
    const events = await attempt(({ name }) => name === 'b').events
    expect(told(events)).toEqual(['a begins', 'a failed', 'b begins', 'b passed', 'c begins', 'c failed'])
    expect(those(events, 'attempt-finished')).toMatchObject([
      {
        outcome: 'gate-failed',
        reason: 'a: exit code 1: error: it does not work; c: exit code 1: error: it does not work',
      },
    ])
  })

  it('pass where only one fails that is not required', async () => {
    const { root, events } = attempt(({ name }) => name !== 'b')
    expect(those(await events, 'task-completed')).toHaveLength(1)
    expect(read(root, 'docs/tasks/T-1.md')).toContain('DONE')
  })

  it('end with an interruption, and those that were to come do not run', async () => {
    const control = new Control()
    const events = await attempt(() => {
      control.stop('clean')
      return { verdict: 'interrupted' }
    }, control).events
    expect(told(events)).toEqual(['a begins', 'a interrupted'])
    expect(those(events, 'attempt-finished')).toMatchObject([{ outcome: 'interrupted' }])
  })
})
