import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fairShares } from '../../src/prompt/tokens.ts'

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)

describe('fair shares', () => {
  it.each([
    ['all that is wanted, where there is enough', [10, 20], 100, 5, [10, 20]],
    ['equal parts of too little', [50, 50], 60, 5, [30, 30]],
    ['what the small ones leave to the large ones', [10, 100, 100], 110, 5, [10, 50, 50]],
    ['nothing to the last ones, where a part would be too small', [100, 100, 100], 90, 40, [45, 45, 0]],
    ['nothing of nothing', [10], 0, 5, [0]],
    ['nothing to nobody', [], 10, 5, []],
  ])('give %s', (_, wants, budget, least, expected) => {
    expect(fairShares(wants, budget, least)).toEqual(expected)
  })

  it('exceed neither the budget nor what is wanted, and leave nothing that somebody who is served wants', () => {
    const wants = fc.array(fc.nat(1000), { maxLength: 30 })
    fc.assert(
      fc.property(wants, fc.nat(5000), fc.nat(100), (wants, budget, least) => {
        const shares = fairShares(wants, budget, least)
        expect(sum(shares)).toBeLessThanOrEqual(budget)
        const served = shares
          .map((share, index) => ({ share, want: wants[index]! }))
          .filter(({ share }) => share > 0)
        for (const { share, want } of served) {
          expect(share).toBeLessThanOrEqual(want)
          expect(share).toBeGreaterThanOrEqual(Math.min(want, least))
        }
        const cut = served.filter(({ share, want }) => share < want).map(({ share }) => share)
        if (cut.length > 0) {
          expect(Math.max(...cut) - Math.min(...cut)).toBeLessThanOrEqual(1)
          expect(Math.max(...served.map(({ share }) => share))).toBeLessThanOrEqual(Math.max(...cut))
          expect(sum(shares)).toBe(budget)
        }
      }),
    )
  })

  it('are found at once for very many', () => {
    const shares = fairShares(
      Array.from({ length: 20_000 }, () => 1000),
      60_000,
      120,
    )
    expect(shares.filter((share) => share > 0)).toHaveLength(500)
  })
})
