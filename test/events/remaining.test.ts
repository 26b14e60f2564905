import { describe, expect, it } from 'vitest'
import { remainingTime, remainingText } from '../../src/screen/run-state.ts'
import { statusAfter, type RunStatus } from '../../src/screen/run-status.ts'
import { attemptStarted, completed, START, taskStarted } from '../ui/recorded.ts'
import { runStarted } from './run-started.ts'

const NOW = new Date(START)
const at = NOW.toISOString()

/** A run with so many tasks to do, after these events. */
function status(open: number, ...events: Parameters<typeof add>[1][]): RunStatus {
  const begun = statusAfter(null, { at, ...runStarted({ counts: { TODO: open, DONE: 2, BLOCKED: 1 } }) })
  if (!begun) throw new Error('no run')
  return events.reduce(add, begun)
}

function add(before: RunStatus, event: ReturnType<typeof taskStarted>): RunStatus {
  return statusAfter(before, { at, ...event }) ?? before
}

const same = [600, 600, 600, 600, 600]
const all = { durations: same, most: Infinity }

describe('how long a run is still going to take', () => {
  it('is not said of fewer than five tasks, nor of a run that ends, nor where nothing is left', () => {
    expect(remainingTime(status(4), { ...all, durations: same.slice(1) }, NOW)).toBeNull()
    expect(remainingTime(status(4, { type: 'stopping' }), all, NOW)).toBeNull()
    expect(remainingTime(status(0), all, NOW)).toBeNull()
    expect(remainingTime(status(4, completed('T-1', 'x')), { ...all, most: 1 }, NOW)).toBeNull()
  })

  it('is what the tasks took that are left, or as many as the run may do', () => {
    expect(remainingTime(status(4), all, NOW)).toEqual({ low: 2400, high: 2400 })
    expect(remainingTime(status(4), { ...all, most: 3 }, NOW)).toEqual({ low: 1800, high: 1800 })
    expect(remainingTime(status(4, completed('T-1', 'x')), all, NOW)).toEqual({ low: 1800, high: 1800 })
  })

  it('leaves out what a task at work has had, and shares the rest among jobs', () => {
    const working = status(2, taskStarted('T-1', 'x'), attemptStarted('T-1'))
    expect(remainingTime(working, all, new Date(START + 200_000))).toEqual({ low: 1000, high: 1000 })
    // One that takes long already may take as long again.
    expect(remainingTime(working, all, new Date(START + 9_000_000))).toEqual({ low: 900, high: 900 })
    expect(remainingTime({ ...status(4), atOnce: 2 }, all, NOW)).toEqual({ low: 1200, high: 1200 })
  })

  it('is a range as wide as tasks differ, which grows slower than their number', () => {
    const durations = [100, 300, 500, 700, 900, 1100, 200, 400, 600, 800]
    const width = (open: number): number => {
      const range = remainingTime(status(open), { durations, most: Infinity }, NOW)!
      expect(range.low).toBeLessThan(open * 560)
      expect(range.high).toBeGreaterThan(open * 560)
      return range.high - range.low
    }
    expect(width(4)).toBeGreaterThan(width(1))
    expect(width(4)).toBeLessThan(4 * width(1))
  })

  it.each([
    [2400, 3600, 'about 40m–1h more'],
    [2400, 2430, 'about 40m more'],
    [0, 250, 'up to 4m more'],
    [0, 20, 'under a minute more'],
    [7000, 16_000, 'about 1h 55m–4h 30m more'],
  ])('is said as exactly as anybody can know: %i to %i s', (low, high, text) => {
    expect(remainingText({ low, high })).toBe(text)
  })
})
