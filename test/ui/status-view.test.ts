import { expect, it } from 'vitest'
import type { Happening } from '../../src/events/event.ts'
import { statusAfter, type RunStatus } from '../../src/events/status.ts'
import type { TaskJson } from '../../src/events/task.ts'
import { layOut } from '../../src/ui/layout.ts'
import { footLine } from '../../src/ui/run-foot.ts'
import { statusView } from '../../src/ui/status-view.ts'
import { measureForAny } from '../../src/ui/width.ts'
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
async function shown(...events: readonly Happening[]): Promise<string> {
  let status: RunStatus | null = null
  for (const event of [...BEGUN, ...events])
    status = statusAfter(status, { at: BEGAN.toISOString(), ...event })
  const run = status && { ...status, pid: 7, host: 'here' }
  const now = new Date(BEGAN.getTime() + 5000)
  const blocks = statusView({ run, last: null, candidates: [] }, now)
  return layOut(blocks, { columns: 100, colour: false })
}

it.each([
  [6000, 'waiting: no network: for 1s'],
  [3_600_000, 'waiting: no network: until 15:00'],
])('says how long a wait still lasts that ends %i ms after the begin', async (milliseconds, expected) => {
  const until = new Date(BEGAN.getTime() + milliseconds).toISOString()
  expect(await shown({ type: 'waiting', id: 'T-001', until, reason: 'no network' })).toContain(expected)
})

it('says in the foot of a run how that is to end', async () => {
  const status = statusAfter(statusAfter(null, { at: BEGAN.toISOString(), ...runStarted() }), {
    at: BEGAN.toISOString(),
    type: 'stopping',
    how: 'after-attempt',
  })
  const facts = { now: BEGAN, remaining: null, keys: [] }
  const foot = footLine(status!, facts, { columns: 80, measure: await measureForAny() })
  expect(await layOut([foot], { columns: 80, colour: false })).toContain('stopping after this attempt · ')
})

it.each([
  [{}, 'The run is ending, and under way since'],
  [{ how: 'after-attempt' }, 'The run is ending after this attempt, and under way since'],
  [{ how: 'clean' }, 'The run is ending now, and under way since'],
  [{ how: 'now' }, 'The run is ending at once, and under way since'],
] as const)('says how a run is to end: %j', async (more, expected) => {
  expect(await shown({ type: 'stopping', ...more })).toContain(expected)
})
