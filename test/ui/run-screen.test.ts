import { describe, expect, it } from 'vitest'
import { liveRun } from './live-run.ts'
import { AT_WORK, TOGETHER } from './recorded.ts'
import { framed } from './screen.ts'

const KEYS = ['p pause', 's skip', 'q stop', 'd diff', 'l log', '? keys']
const SIZES = [
  [80, 24],
  [140, 40],
  [40, 12],
] as const
const DURATIONS = [300, 420, 380, 500, 610, 290]

describe('a run in a terminal', () => {
  it.each(SIZES)('has live lines, and a foot that says how it stands, at %i×%i', async (columns, rows) => {
    const { reporter, screen, play, pass } = await liveRun(columns, rows)
    reporter.keys(KEYS)
    reporter.pace({ durations: DURATIONS, most: Infinity })
    play(AT_WORK)
    pass(1)
    const frame = framed(await screen.frame(), columns)
    await expect(frame).toMatchFileSnapshot(`golden/run at work ${columns}x${rows}.txt`)
  })

  it.each(SIZES)('has a line for each of several jobs, at %i×%i', async (columns, rows) => {
    const { reporter, screen, play, pass } = await liveRun(columns, rows)
    reporter.keys(KEYS)
    play(TOGETHER)
    pass(1)
    const frame = framed(await screen.frame(), columns)
    await expect(frame).toMatchFileSnapshot(`golden/run together ${columns}x${rows}.txt`)
  })
})
