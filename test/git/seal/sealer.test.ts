import { describe, expect, it } from 'vitest'
import type { Git } from '../../../src/git/git.ts'
import { openSealer } from '../../../src/git/seal/sealer.ts'
import type { Trailer } from '../../../src/git/trailers.ts'
import { doorOf, git, makeRepository } from '../../repository.ts'

const NEVER = new AbortController().signal

/** A clock that goes so many milliseconds each time that it is looked at. */
function clock(step: number): () => number {
  let time = 0
  return () => (time += step)
}

/** The door, with a list of what went through it. */
function counted(root: string): { readonly door: Git; readonly asked: (string | undefined)[] } {
  const real = doorOf(root)
  const asked: (string | undefined)[] = []
  const run: Git['run'] = (args, options) => {
    asked.push(args[0])
    return real.run(args, options)
  }
  return { door: { ...real, run }, asked }
}

function commitWith(root: string, ...trailers: readonly string[]): string {
  git(root, 'commit', '-q', '--allow-empty', '-m', ['T-004: Add it\n\nTask: T-004', ...trailers].join('\n'))
  return git(root, 'rev-parse', 'HEAD')
}

const lineOf = ({ key, value }: Trailer) => `${key}: ${value}`

describe('a sealer', () => {
  it('takes a commit from the choice of its digits to its seal, and moves no ref', async () => {
    const root = makeRepository()
    const sealer = openSealer(doorOf(root), 4, { signal: NEVER, now: clock(0) })
    const prefix = await sealer.prefix('T-004: Add it')
    expect(prefix).toMatch(/^[0-9a-f]{4}$/)
    const commit = commitWith(root, lineOf(sealer.trailer(prefix)))
    const sealed = await sealer.sealed(commit, () => undefined)
    expect(sealed!.startsWith(prefix)).toBe(true)
    expect(git(root, 'cat-file', '-t', sealed!)).toBe('commit')
    expect(git(root, 'rev-parse', 'main')).toBe(commit)
  })

  it('leaves a commit as it is that asks for nothing', async () => {
    const root = makeRepository()
    const commit = commitWith(root)
    const sealer = openSealer(doorOf(root), 4, { signal: NEVER, now: clock(0) })
    expect(await sealer.sealed(commit, () => undefined)).toBe(commit)
  })

  it('gives nothing where the search is interrupted', async () => {
    const root = makeRepository()
    const door = doorOf(root)
    const commit = commitWith(root, 'Seal: a41f')
    const stopped = openSealer(door, 4, { signal: AbortSignal.abort(), now: clock(0) })
    expect(await stopped.sealed(commit, () => undefined)).toBeNull()
  })

  it('asks for fewer digits while the machine is busy, and for a signer of long messages', async () => {
    const root = makeRepository()
    let [time, step] = [0, 1]
    const now = () => (time += step)
    const sealer = openSealer(doorOf(root), 'auto', { signal: NEVER, now })
    const free = (await sealer.prefix('T-004: Add it')).length
    step = 1000
    expect((await sealer.prefix('T-005: Add more')).length).toBeLessThan(free)
    step = 1
    expect(await sealer.prefix('T-006: Add the rest')).toHaveLength(free)
    git(root, 'config', 'commit.gpgSign', 'yes')
    const signing = openSealer(doorOf(root), 'auto', { signal: NEVER, now: clock(1000) })
    expect(await signing.prefix('notes '.repeat(1000))).toHaveLength(4)
  })

  it.each(['sha1', 'sha256'] as const)('costs a task three git processes: %s', async (format) => {
    const root = makeRepository({}, format)
    const { door, asked } = counted(root)
    const sealer = openSealer(door, 4, { signal: NEVER, now: clock(0) })
    await sealer.sealed(commitWith(root, 'Seal: a41f'), () => undefined)
    asked.length = 0
    const commit = commitWith(root, lineOf(sealer.trailer(await sealer.prefix('T-004: Add it'))))
    await sealer.sealed(commit, () => undefined)
    expect(asked).toEqual(['cat-file', 'cat-file', 'hash-object'])
  })
})
