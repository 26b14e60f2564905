import { expect, it } from 'vitest'
import { liveRun } from './live-run.ts'
import { recordedRun } from './recorded.ts'
import { framed } from './screen.ts'

const SIZES = [
  [80, 24],
  [140, 40],
  [40, 12],
] as const

// One job of which the foot says how long it may still take, and several: one at its gates, one that has landed, one
// that is held, one that waits for a limit, one that asks.
it.each(SIZES.flatMap(([columns, rows]) => ['at-work', 'together'].map((name) => ({ name, columns, rows }))))(
  'a run in a terminal, $name, at $columns columns',
  async ({ name, columns, rows }) => {
    const { reporter, screen, play, pass } = await liveRun(columns, rows)
    reporter.keys(['p pause', 's skip', 'q stop', 'd diff', 'l log', '? keys'])
    if (name === 'at-work') reporter.pace({ durations: [300, 420, 380, 500, 610, 290], most: Infinity })
    play(recordedRun(name))
    pass(1)
    const frame = framed(await screen.frame(), columns)
    await expect(frame).toMatchFileSnapshot(`golden/run ${name.replace('-', ' ')} ${columns}x${rows}.txt`)
  },
)
