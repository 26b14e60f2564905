import { describe, expect, it } from 'vitest'
import { openGit } from '../../../src/git/door.ts'
import type { Git } from '../../../src/git/git.ts'
import { openSealer } from '../../../src/git/seal/sealer.ts'
import type { Trailer } from '../../../src/git/trailers.ts'
import { ENV, git, makeFolder, makeRepository } from '../repository.ts'

const NEVER = new AbortController().signal

/** A clock that goes so many milliseconds each time that it is looked at. */
function clock(step: number): () => number {
  let time = 0
  return () => (time += step)
}

/** The door, with a list of what went through it. */
function counted(root: string): { readonly door: Git; readonly asked: (string | undefined)[] } {
  const real = openGit({ cwd: root, env: ENV })
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
  it('takes a commit from the choice of its digits to its seal', async () => {
    const root = makeRepository()
    const sealer = openSealer(openGit({ cwd: root, env: ENV }), 5, { signal: NEVER, now: clock(0) })
    const prefix = await sealer.prefix('T-004: Add it')
    expect(prefix).toMatch(/^[0-9a-f]{5}$/)
    const commit = commitWith(root, lineOf(sealer.trailer(prefix)))
    const report = await sealer.seal({ commit, branch: 'main', onProgress: () => {} })
    expect(report).toEqual({ commit: git(root, 'rev-parse', 'main'), problem: null })
    expect(report.commit.startsWith(prefix)).toBe(true)
  })

  it('leaves a commit as it is that asks for nothing, on a detached HEAD too', async () => {
    const root = makeRepository()
    const commit = commitWith(root)
    const sealer = openSealer(openGit({ cwd: root, env: ENV }), 5, { signal: NEVER, now: clock(0) })
    expect(await sealer.seal({ commit, branch: null, onProgress: () => {} })).toEqual({
      commit,
      problem: null,
    })
  })

  it('says why a commit stays without its seal', async () => {
    const root = makeRepository()
    const door = openGit({ cwd: root, env: ENV })
    const commit = commitWith(root, 'Seal: a41f')
    const head = { commit, branch: 'main', onProgress: () => {} }
    const stopped = openSealer(door, 4, { signal: AbortSignal.abort(), now: clock(0) })
    expect(await stopped.seal(head)).toMatchObject({
      commit,
      problem: expect.stringContaining('interrupted'),
    })
    const later = commitWith(root)
    const moved = await openSealer(door, 4, { signal: NEVER, now: clock(0) }).seal(head)
    expect(moved).toMatchObject({
      commit,
      problem: expect.stringContaining(`moved to ${later.slice(0, 10)}`),
    })
  })

  it('asks for fewer digits while the machine is busy', async () => {
    const root = makeRepository()
    let [time, step] = [0, 1]
    const now = () => (time += step)
    const sealer = openSealer(openGit({ cwd: root, env: ENV }), 'auto', { signal: NEVER, now })
    expect(await sealer.prefix('T-004: Add it')).toHaveLength(7)
    step = 1000
    expect(await sealer.prefix('T-005: Add more')).toHaveLength(6)
    step = 1
    expect(await sealer.prefix('T-006: Add the rest')).toHaveLength(7)
  })

  it('leaves a commit alone that was pushed, by whatever hook', async () => {
    const root = makeRepository()
    const remote = makeFolder()
    git(remote, 'init', '-q', '--bare')
    git(root, 'remote', 'add', 'origin', remote)
    const commit = commitWith(root, 'Seal: a41f')
    git(root, 'push', '-q', 'origin', 'main')
    const sealer = openSealer(openGit({ cwd: root, env: ENV }), 4, { signal: NEVER, now: clock(0) })
    const report = await sealer.seal({ commit, branch: 'main', onProgress: () => {} })
    expect(report).toMatchObject({ commit, problem: expect.stringContaining('pushed') })
    expect(git(root, 'rev-parse', 'main')).toBe(commit)
    const later = commitWith(root, 'Seal: a41f')
    const next = await sealer.seal({ commit: later, branch: 'main', onProgress: () => {} })
    expect(next).toMatchObject({ commit: expect.stringMatching(/^a41f/), problem: null })
  })

  it('asks a slow machine for fewer digits, and a signer of long messages for fewer still', async () => {
    const root = makeRepository()
    const door = openGit({ cwd: root, env: ENV })
    const slow = openSealer(door, 'auto', { signal: NEVER, now: clock(1000), kernel: null })
    expect(await slow.prefix('T-004: Add it')).toHaveLength(6)
    const fast = openSealer(door, 'auto', { signal: NEVER, now: clock(1) })
    expect(await fast.prefix('T-004: Add it')).toHaveLength(7)
    git(root, 'config', 'commit.gpgSign', 'yes')
    const signing = openSealer(door, 'auto', { signal: NEVER, now: clock(1000), kernel: null })
    expect(await signing.prefix('notes '.repeat(1000))).toHaveLength(4)
  })

  it.each(['sha1', 'sha256'] as const)('costs a task five git processes: %s', async (format) => {
    const root = makeFolder()
    git(root, 'init', '-q', '-b', 'main', `--object-format=${format}`)
    git(root, 'config', 'user.name', 'Ada')
    git(root, 'config', 'user.email', 'ada@example.com')
    const { door, asked } = counted(root)
    const sealer = openSealer(door, 4, { signal: NEVER, now: clock(0) })
    await sealer.seal({ commit: commitWith(root), branch: 'main', onProgress: () => {} })
    asked.length = 0
    const commit = commitWith(root, lineOf(sealer.trailer(await sealer.prefix('T-004: Add it'))))
    await sealer.seal({ commit, branch: 'main', onProgress: () => {} })
    expect(asked).toEqual(['cat-file', 'cat-file', 'rev-list', 'hash-object', 'update-ref'])
  })
})
