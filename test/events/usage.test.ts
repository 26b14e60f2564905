import { describe, expect, it } from 'vitest'
import {
  UNKNOWN_USAGE,
  addUsage,
  formatCost,
  formatTokens,
  parseCost,
  parseTokens,
  secondsIn,
} from '../../src/base/usage.ts'

describe('numbers of an agent', () => {
  it('that nobody told stay unknown in a sum', () => {
    const some = { ...UNKNOWN_USAGE, turns: 3, costUsd: 0.5 }
    expect(addUsage(UNKNOWN_USAGE, UNKNOWN_USAGE)).toEqual(UNKNOWN_USAGE)
    expect(addUsage(some, UNKNOWN_USAGE)).toEqual(some)
    expect(addUsage(some, some)).toMatchObject({ turns: 6, costUsd: 1, inputTokens: null })
  })

  it.each([
    [0, '$0.00'],
    [0.53, '$0.53'],
    [12, '$12.00'],
    [0.0021, '$0.0021'],
  ])('%d dollars are %s', (usd, text) => {
    expect(formatCost(usd)).toBe(text)
    expect(parseCost(text)).toBe(usd)
  })

  it.each([
    [[412_000, null, 9000], '412k in, 9k out'],
    [[950, 0, 12], '950 in (0 cached), 12 out'],
    [[1_250_000, 1_200_000, 9_400], '1.3M in (1.2M cached), 9.4k out'],
    [[null, null, 7], '7 out'],
    [[999_700, null, null], '1M in'],
  ] as const)('%o tokens are %s', ([inputTokens, cachedTokens, outputTokens], text) => {
    expect(formatTokens({ ...UNKNOWN_USAGE, inputTokens, cachedTokens, outputTokens })).toBe(text)
    expect(formatTokens({ ...UNKNOWN_USAGE, ...parseTokens(text) })).toBe(text)
  })

  it.each([
    ['0s', 0],
    ['42s', 42],
    ['8m 12s', 492],
    ['soon', null],
    [null, null],
  ])('a time of %s took %o seconds', (text, seconds) => {
    expect(secondsIn(text)).toBe(seconds)
  })

  it('of which nothing is known have no text', () => {
    expect(formatTokens(UNKNOWN_USAGE)).toBeNull()
    expect(parseTokens(null)).toEqual({ inputTokens: null, cachedTokens: null, outputTokens: null })
    expect(parseCost('free')).toBeNull()
  })
})
