import { afterEach, describe, expect, it, vi } from 'vitest'
import type { RunEvent } from '../../src/engine/events/event.ts'
import { liveRun } from '../ui/live-run.ts'
import { recordedRun } from '../ui/recorded.ts'
import { framed } from '../ui/screen.ts'
import { openTui } from './harness.ts'
import { BEGAN } from './recorded.ts'

/**
 * What a run on the embedded agent has written down: two jobs, one attempt that its gate refuses, one that lands onto
 * what has landed since, and a task that fails twice and is asked about. Of the recording only the times were moved.
 */
const JOURNAL = recordedRun('embedded', BEGAN)

const titles = new Map(JOURNAL.flatMap((event) => (event.type === 'task-started' ? [[event.id, event]] : [])))
const TASKS = [...titles.values()]
  .map(({ task: { id, title, file, milestone } }) => ({ id, title, file, milestone: milestone ?? '' }))
  .toSorted((one, other) => (one.id < other.id ? -1 : 1))
  .map((task) => ({ ...task, status: 'TODO' as const, waits: '' }))

/** How many seconds after a moment it is shown: a wait of a second is not over then. */
const LATER = 0.5

/** Moments of it, each after so many events. */
const after = (found: (event: RunEvent) => boolean): number => JOURNAL.findIndex(found) + 1
const MOMENTS = [
  ['at work', after(({ type }) => type === 'waiting')],
  ['asked', after(({ type }) => type === 'question')],
  ['over', JOURNAL.length],
] as const

const SIZES = [
  [80, 24],
  [140, 40],
  [40, 12],
] as const

const CASES = SIZES.flatMap(([columns, rows]) =>
  MOMENTS.map(([moment, length]) => ({ columns, rows, moment, length })),
)

afterEach(() => void vi.unstubAllEnvs())

describe.each(CASES)('a recorded run, $moment, at $columns columns', ({ columns, rows, moment, length }) => {
  const golden = (what: string): string => `golden/journal ${moment} ${what} ${columns}x${rows}.txt`

  it('is shown in lines', async () => {
    const { play, pass, reporter, screen } = await liveRun(columns, rows)
    reporter.keys(['p pause', 's skip', 'q stop', 'd diff', 'f full', '? keys'])
    play(recordedRun('embedded').slice(0, length))
    pass(LATER)
    if (moment === 'over') reporter.end()
    const lines = [...(await screen.scrolledAway()), ...(await screen.frame())]
    await expect(framed(lines, columns)).toMatchFileSnapshot(golden('lines'))
  })

  it('is shown on the full screen', async () => {
    vi.stubEnv('TZ', 'UTC')
    const events = JOURNAL.slice(0, length)
    const second = (Date.parse(events.at(-1)!.at) - BEGAN) / 1000 + LATER
    const { terminal } = openTui({
      columns,
      rows,
      events,
      tasks: TASKS,
      second,
      isAlive: moment !== 'over',
    })
    await expect(framed(await terminal.frame(), columns)).toMatchFileSnapshot(golden('full'))
  })
})
