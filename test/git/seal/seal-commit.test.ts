import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { commitHash, sealCommit, type SealProgress } from '../../../src/git/seal/seal-commit.ts'
import { makeFolder } from '../../repository.ts'

const NEVER = new AbortController().signal

/** A commit like no other of this file; always the same, so that what a search does with it is too. */
function commitOf(n: number, prefix: string): Buffer {
  const who = `Ada <ada@example.com> ${1_700_000_000 + n} +0100`
  const headers = `tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nauthor ${who}\ncommitter ${who}\n`
  return Buffer.from(`${headers}\nT-${n}: Add it\n\nTask: T-${n}\nSeal: ${prefix}\n`)
}

describe('sealing a commit', () => {
  it('gives the same in threads and in none, and git agrees on the name', async () => {
    const request = { commit: commitOf(4, 'beef'), prefix: 'beef', algorithm: 'sha1' } as const
    const ways = [{ threads: 0 }, { threads: 2 }]
    const seals = await Promise.all(
      ways.map((way) => sealCommit(request, { signal: NEVER, now: () => 0, ...way })),
    )
    const [first] = seals
    for (const seal of seals) expect(seal).toEqual(first)
    const named = execFileSync('git', ['hash-object', '-t', 'commit', '--stdin'], {
      cwd: makeFolder(),
      input: first!.commit,
    })
    expect(first!.hash).toBe(named.toString().trim())
    expect(first!.hash).toMatch(/^beef/)
  })

  it('seals a sealed commit anew, in place of the seal it had', async () => {
    const first = await seal(commitOf(4, 'beef'), 'beef')
    const second = await seal(first.commit, 'c0de')
    expect(second.commit.toString().match(/Seal:/g)).toHaveLength(1)
    expect(commitHash(second.commit, 'sha1')).toMatch(/^c0de/)
  })

  it('takes as many tries as chance would have it: 30 seals against the geometric distribution', async () => {
    const tries: number[] = []
    for (let n = 0; n < 30; n++) tries.push((await seal(commitOf(n, 'a41f'), 'a41f')).tries)
    // Kolmogorov and Smirnov: of 30 fair samples only 5 in 100 sets are as far as 0.242 from the distribution.
    expect(distance(tries, 1 / 16 ** 4)).toBeLessThan(0.242)
  })

  it('tells once a second how far it is, and what to expect', async () => {
    const told: SealProgress[] = []
    const stop = new AbortController()
    let time = -400
    const outcome = await sealCommit(
      { commit: commitOf(4, '12345678'), prefix: '12345678', algorithm: 'sha1' },
      {
        signal: stop.signal,
        threads: 0,
        now: () => (time += 400),
        onProgress: (progress) => {
          told.push(progress)
          if (told.length === 2) stop.abort()
        },
      },
    )
    expect(outcome).toBeNull()
    expect(told.map(({ seconds }) => seconds)).toEqual([1.2, 2.4])
    expect(told[0]!.expectedTries).toBe(2 ** 32)
    expect(told[0]!.expectedSeconds).toBeCloseTo((1.2 * 2 ** 32) / told[0]!.tries)
    expect(told[1]!.tries).toBeGreaterThan(told[0]!.tries)
  })

  it.each([0, 2])('does not begin what is cancelled already: %d threads', async (threads) => {
    const request = { commit: commitOf(4, 'beef'), prefix: 'beef', algorithm: 'sha1' } as const
    expect(await sealCommit(request, { signal: AbortSignal.abort(), now: () => 0, threads })).toBeNull()
  })

  it('leaves no worker behind, whether it found the seal or was cancelled', async () => {
    const workers = () => process.getActiveResourcesInfo().filter((name) => name === 'MessagePort').length
    const before = workers()
    await sealCommit(
      { commit: commitOf(4, 'beef'), prefix: 'beef', algorithm: 'sha1' },
      { signal: NEVER, now: () => 0, threads: 2 },
    )
    expect(workers()).toBe(before)
    const stop = new AbortController()
    const search = sealCommit(
      { commit: commitOf(4, '12345678'), prefix: '12345678', algorithm: 'sha1' },
      { signal: stop.signal, now: () => 0, threads: 2 },
    )
    expect(workers()).toBeGreaterThan(before)
    stop.abort()
    expect(await search).toBeNull()
    expect(workers()).toBe(before)
  })
})

async function seal(commit: Buffer, prefix: string) {
  const sealed = await sealCommit(
    { commit, prefix, algorithm: 'sha1' },
    { signal: NEVER, now: () => 0, threads: 0 },
  )
  return sealed!
}

/** The farthest that the samples' own distribution is from the geometric one. */
function distance(samples: readonly number[], chance: number): number {
  const sorted = [...samples].sort((a, b) => a - b)
  return Math.max(
    ...sorted.map((tries, i) => {
      const expected = 1 - Math.exp(tries * Math.log1p(-chance))
      return Math.max(Math.abs(expected - i / sorted.length), Math.abs(expected - (i + 1) / sorted.length))
    }),
  )
}
