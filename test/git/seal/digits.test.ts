import { describe, expect, it } from 'vitest'
import { digitsFor, expectedBlocks, expectedSeconds, measureSpeed } from '../../../src/git/seal/sealer.ts'

describe('the digits of auto', () => {
  it.each([
    { blocksPerSecond: 900e6, blocksPerTry: 1, digits: 7, why: 'a very fast machine' },
    { blocksPerSecond: 60e6, blocksPerTry: 1, digits: 6, why: 'a fast machine' },
    { blocksPerSecond: 4e6, blocksPerTry: 1, digits: 5, why: 'two usual cores' },
    { blocksPerSecond: 1e6, blocksPerTry: 1, digits: 4, why: 'a slow machine' },
    { blocksPerSecond: 4e6, blocksPerTry: 12, digits: 4, why: 'signed, with notes' },
    { blocksPerSecond: 1e3, blocksPerTry: 1, digits: 4, why: 'never fewer than four' },
  ])('$digits: $why', ({ digits, ...cost }) => {
    expect(digitsFor(cost)).toBe(digits)
  })

  it('take as long as there are blocks to hash', () => {
    expect(expectedSeconds(7, { blocksPerSecond: 2 ** 26, blocksPerTry: 2 })).toBe(8)
  })

  it('count the message of a signed commit alone', () => {
    const message = 'ü'.repeat(320)
    expect(expectedBlocks(message, false)).toBe(1)
    expect(expectedBlocks(message, true)).toBe(12)
  })

  it('measure the machine by what it did in the time that it took', () => {
    let time = 0
    const now = () => (time += 5)
    const sha1 = measureSpeed('sha1', { now })
    expect(sha1).toBeGreaterThan(0)
    expect(measureSpeed('sha1', { now })).toBe(sha1)
    expect(measureSpeed('sha1', { now: () => (time += 10) })).toBe(sha1 / 2)
  })
})
