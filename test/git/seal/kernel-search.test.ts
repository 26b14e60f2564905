import { createHash, randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { Algorithm } from '../../../src/git/seal/block-hash.ts'
import { kernelSearcher, loadKernel } from '../../../src/git/seal/kernel-search.ts'
import { type SealLayout, layOut } from '../../../src/git/seal/layout.ts'
import { plainSearcher } from '../../../src/git/seal/plain-search.ts'
import type { Searcher } from '../../../src/git/seal/puzzle.ts'

const KERNEL = loadKernel()!
const GROUPS = 2

/** Indices of the groups' tries whose hash begins with the digit, by node:crypto alone. */
function byCrypto(layout: SealLayout, algorithm: Algorithm, digit: string): number[] {
  const found: number[] = []
  for (let index = 0; index < GROUPS * 256; index++) {
    const commit = layout.solved(index)
    const hash = createHash(algorithm).update(`commit ${commit.length}\0`).update(commit).digest('hex')
    if (hash.startsWith(digit)) found.push(index)
  }
  return found
}

/** The first try that a searcher takes in each group. */
function firstOfEachGroup(searcher: Searcher): (number | null)[] {
  return Array.from({ length: GROUPS }, (_, group) => searcher(group, 1))
}

describe.each(['sha1', 'sha256'] as const)('the searches for %s', (algorithm) => {
  const searchers = {
    kernel: (layout: SealLayout) => kernelSearcher(KERNEL, layout.puzzle),
    plain: (layout: SealLayout) => plainSearcher(layout.puzzle),
  }
  it.each(['kernel', 'plain'] as const)(
    'agree with node:crypto on objects of every length from 0 to 300 bytes, the seal at the end: %s',
    (which) => {
      for (let length = 0; length <= 300; length++) {
        const layout = layOut({ before: randomBytes(length), after: Buffer.from('\n') }, 'ab', algorithm)
        const expected = byCrypto(layout, algorithm, 'ab')
        const first = [0, 1].map((group) => expected.find((index) => index >> 8 === group) ?? null)
        expect(firstOfEachGroup(searchers[which](layout)), `${length} bytes`).toEqual(first)
        expect(layout.puzzle.tail).toHaveLength(0)
      }
    },
  )

  it('agree with node:crypto where up to 300 bytes follow the seal', () => {
    for (let length = 0; length <= 300; length += 3) {
      const place = { before: randomBytes(300 - length), after: randomBytes(length) }
      const layout = layOut(place, 'ab', algorithm)
      const expected = byCrypto(layout, algorithm, 'ab')
      const first = [0, 1].map((group) => expected.find((index) => index >> 8 === group) ?? null)
      expect(firstOfEachGroup(searchers.kernel(layout)), `${length} bytes`).toEqual(first)
      expect(firstOfEachGroup(searchers.plain(layout)), `${length} bytes`).toEqual(first)
    }
  })

  it('find every match of many groups, one lane or another', () => {
    const place = { before: randomBytes(150), after: Buffer.from('\n') }
    const layout = layOut(place, '000', algorithm)
    const [kernel, plain] = [searchers.kernel(layout), searchers.plain(layout)]
    const lanes = new Set<number>()
    for (let group = 0; group < 400; group++) {
      const index = kernel(group, 1)
      expect(index).toBe(plain(group, 1))
      if (index !== null) lanes.add(index % 8)
    }
    expect(lanes.size).toBeGreaterThan(3)
  })
})
