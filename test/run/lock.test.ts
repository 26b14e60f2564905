import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { lockOwner, takeLock } from '../../src/run/lock.ts'
import { makeFolder } from '../git/repository.ts'

const now = new Date('2026-01-01T00:00:00Z')
const me = { pid: process.pid, now }

function deadPid(): number {
  const { pid } = spawnSync('true')
  return pid
}

describe('the lock', () => {
  it('is held by one, and free again after it', async () => {
    const path = join(makeFolder(), 'lock')
    const lock = await takeLock(path, me)
    await expect(takeLock(path, me)).rejects.toThrow(`another ralph is at work here: process ${process.pid}`)
    expect(await lockOwner(path)).toMatchObject({ alive: true, owner: { pid: process.pid } })
    lock.release()
    expect(await lockOwner(path)).toBeNull()
    ;(await takeLock(path, me)).release()
  })

  it.each([
    ['a process that is gone', () => ({ pid: deadPid(), processStart: '1' })],
    ['a pid that is somebody else’s by now', () => ({ pid: process.pid, processStart: 'another time' })],
  ])('of %s is taken over', async (_, owner) => {
    const path = join(makeFolder(), 'lock')
    const dead = { ...owner(), host: hostname(), since: now.toISOString() }
    writeFileSync(path, JSON.stringify(dead))
    const lock = await takeLock(path, me)
    expect(await lockOwner(path)).toMatchObject({
      alive: true,
      owner: { pid: process.pid, since: me.now.toISOString() },
    })
    lock.release()
  })

  it('of another machine cannot be judged, so it holds', async () => {
    const path = join(makeFolder(), 'lock')
    writeFileSync(
      path,
      JSON.stringify({ pid: 1, processStart: '1', host: 'elsewhere', since: now.toISOString() }),
    )
    await expect(takeLock(path, me)).rejects.toThrow('process 1 on elsewhere')
  })

  it('that nobody can read is taken over', async () => {
    const path = join(makeFolder(), 'lock')
    writeFileSync(path, 'half a li')
    ;(await takeLock(path, me)).release()
    expect(existsSync(path)).toBe(false)
  })

  it('of a dead one goes to exactly one of many who try', async () => {
    const folder = makeFolder()
    const path = join(folder, 'lock')
    for (let round = 0; round < 10; round++) {
      const dead = { pid: deadPid(), processStart: '1', host: hostname(), since: now.toISOString() }
      writeFileSync(path, JSON.stringify(dead))
      const tries = Array.from({ length: 6 }, (_, i) =>
        takeLock(path, { pid: process.pid, now: new Date(i) }),
      )
      const results = await Promise.allSettled(tries)
      const winners = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
      expect(winners).toHaveLength(1)
      expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ pid: process.pid })
      winners[0]?.release()
    }
    expect(readdirSync(folder)).toEqual([])
  })
})
