import { readFileSync } from 'node:fs'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { RunEvent } from '../../src/engine/events/event.ts'
import { liveRun } from '../ui/live-run.ts'
import { START } from '../ui/recorded.ts'
import { framed } from '../ui/screen.ts'
import { openTui } from './harness.ts'
import { BEGAN } from './recorded.ts'

/**
 * What a run on the embedded agent has written down: two jobs, one attempt that its gate refuses, one that lands onto
 * what has landed since, and a task that fails twice and is asked about. Of the recording only the times were moved.
 */
const JOURNAL: readonly RunEvent[] = readFileSync(
  new URL('journals/two-jobs.ndjson', import.meta.url),
  'utf8',
)
  .trimEnd()
  .split('\n')
  .map((line): RunEvent => JSON.parse(line))

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
  MOMENTS.map(([moment, length]) => ({ columns, rows, moment, events: JOURNAL.slice(0, length) })),
)

const secondOf = ({ at }: RunEvent): number => (Date.parse(at) - BEGAN) / 1000

/** The same as if it had begun when those runs begin that are shown in lines. */
function moved(event: RunEvent): RunEvent {
  const later = (_: string, name: string, time: string): string =>
    `"${name}":"${new Date(Date.parse(time) + START - BEGAN).toISOString()}"`
  return JSON.parse(JSON.stringify(event).replaceAll(/"(at|until)":"([^"]+)"/g, later))
}

afterEach(() => void vi.unstubAllEnvs())

describe.each(CASES)('a recorded run, $moment, at $columns columns', ({ columns, rows, moment, events }) => {
  const golden = (what: string): string => `golden/journal ${moment} ${what} ${columns}x${rows}.txt`

  it('is shown in lines', async () => {
    const { emit, pass, reporter, screen } = await liveRun(columns, rows)
    reporter.keys(['p pause', 's skip', 'q stop', 'd diff', 'f full', '? keys'])
    for (const event of events.map(moved)) emit((Date.parse(event.at) - START) / 1000, event)
    pass(LATER)
    if (moment === 'over') reporter.end()
    const lines = [...(await screen.scrolledAway()), ...(await screen.frame())]
    await expect(framed(lines, columns)).toMatchFileSnapshot(golden('lines'))
  })

  it('is shown on the full screen', async () => {
    vi.stubEnv('TZ', 'UTC')
    const second = secondOf(events.at(-1)!) + LATER
    const { screen, terminal } = openTui({
      columns,
      rows,
      events,
      tasks: TASKS,
      second,
      isAlive: moment !== 'over',
    })
    await expect(framed(await terminal.frame(), columns)).toMatchFileSnapshot(golden('full'))
    screen.close()
  })
})
